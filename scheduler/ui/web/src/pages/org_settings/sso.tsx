// SPDX-License-Identifier: MPL-2.0
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { PageProps } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { namesOf } from "../../objects/kinds.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";

function Settings({ view }: { readonly view: OrganizationView }) {
	const settings = useDocument(address(`${view.path}/sso-settings`));
	const providers = useDocument(address(`${view.path}/identity-providers`));
	const fields: readonly FieldRow[] = [
		{
			name: "identity-providers",
			label: "Identity providers",
			kind: "set",
			relation: "identity-providers",
			options: namesOf(providers.items),
			hint: "Their groups lead to the teams of this organization: by the SSO team id of a team, else by its name.",
		},
		{ name: "required", label: "Members must sign in through one of them", kind: "flag", hint: "Sign in through one of them first." },
		{ name: "domains", label: "Domains of addresses that lead to them", kind: "list", hint: "A provider must list the domain." },
	];
	const kind = { type: "sso-settings", fields, item: () => `${view.path}/sso-settings` };
	return (
		<Content of={providers}>
			{() => (
				<Content of={settings}>
					{() =>
						settings.item && (
							<SettingsForm kind={kind} item={settings.item} reason={without(view, "can-update", "manage the organization")} />
						)
					}
				</Content>
			)}
		</Content>
	);
}

export default function SingleSignOn({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="sso">
			{(view) => <Settings view={view} />}
		</SettingsFrame>
	);
}
