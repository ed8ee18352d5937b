// SPDX-License-Identifier: MPL-2.0
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsPage } from "./settings_page.tsx";

const fields: readonly FieldRow[] = [
	{ name: "support-email-address", label: "Address of the support", kind: "email", hint: "On the sign-in page and in invitations." },
	{ name: "login-help", label: "Below the sign-in form", kind: "long" },
	{ name: "new-user", label: "For people who are in no organization", kind: "long" },
	{ name: "error", label: "Below unexpected errors", kind: "long" },
	{ name: "footer", label: "At the end of each page", kind: "long" },
];

export default function AdminTexts() {
	return (
		<SettingsPage
			section="texts"
			intro="HTML with paragraphs, lists, links and emphasis. Other elements are left out."
			type="customization-settings"
			fields={fields}
		/>
	);
}
