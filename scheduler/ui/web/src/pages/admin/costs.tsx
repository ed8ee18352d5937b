// SPDX-License-Identifier: MPL-2.0
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { AdminFrame } from "./admin_frame.tsx";

const path = "/admin/cost-estimation-settings";

const fields: readonly FieldRow[] = [
	{ name: "enabled", label: "Organizations and workspaces can have cost estimates", kind: "flag", hint: "Of new runs." },
];

const kind = { type: "cost-estimation-settings", fields, item: () => path };

function Settings() {
	const settings = useDocument(address(path));
	return <Content of={settings}>{() => settings.item && <SettingsForm kind={kind} item={settings.item} reason={undefined} />}</Content>;
}

export default function AdminCosts() {
	return (
		<AdminFrame section="costs" intro="Estimates use the prices that the workers have. They need no account of a cloud.">
			<Settings />
		</AdminFrame>
	);
}
