// SPDX-License-Identifier: MPL-2.0
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { AdminFrame, type SectionKey } from "./admin_frame.tsx";

type FormProps = {
	readonly type: string; // of the settings: "smtp-settings". Their address ends in it
	readonly fields: readonly FieldRow[];
};

type Props = FormProps & { readonly section: SectionKey; readonly intro?: string | undefined };

function Form({ type, fields }: FormProps) {
	const path = `/admin/${type}`;
	const settings = useDocument(address(path));
	return (
		<Content of={settings}>
			{() => settings.item && <SettingsForm kind={{ type, fields, item: () => path }} item={settings.item} reason={undefined} />}
		</Content>
	);
}

// A page of the site's admins that is one form. It reads nothing for others.
export function SettingsPage({ section, intro, ...form }: Props) {
	return (
		<AdminFrame section={section} intro={intro}>
			<Form {...form} />
		</AdminFrame>
	);
}
