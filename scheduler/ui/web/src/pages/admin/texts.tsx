// SPDX-License-Identifier: MPL-2.0
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { AdminFrame } from "./admin_frame.tsx";

const path = "/admin/customization-settings";

const fields: readonly FieldRow[] = [
	{ name: "support-email-address", label: "Address of the support", kind: "email", hint: "On the sign-in page and in invitations." },
	{ name: "login-help", label: "Below the sign-in form", kind: "long" },
	{ name: "new-user", label: "For people who are in no organization", kind: "long" },
	{ name: "error", label: "Below unexpected errors", kind: "long" },
	{ name: "footer", label: "At the end of each page", kind: "long" },
];

const kind = { type: "customization-settings", fields, item: () => path };

function Settings() {
	const settings = useDocument(address(path));
	return <Content of={settings}>{() => settings.item && <SettingsForm kind={kind} item={settings.item} reason={undefined} />}</Content>;
}

export default function AdminTexts() {
	return (
		<AdminFrame section="texts" intro="HTML with paragraphs, lists, links and emphasis. Other elements are left out.">
			<Settings />
		</AdminFrame>
	);
}
