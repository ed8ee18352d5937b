// SPDX-License-Identifier: MPL-2.0
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsPage } from "./settings_page.tsx";

const fields: readonly FieldRow[] = [
	{ name: "enabled", label: "Organizations and workspaces can have cost estimates", kind: "flag", hint: "Of new runs." },
];

export default function AdminCosts() {
	return (
		<SettingsPage
			section="costs"
			intro="Estimates use the prices that the workers have. They need no account of a cloud."
			type="cost-estimation-settings"
			fields={fields}
		/>
	);
}
