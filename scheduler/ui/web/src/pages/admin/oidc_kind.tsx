// SPDX-License-Identifier: MPL-2.0
// An OpenID provider of the site.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { address, change, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { useAttempt } from "../../core/hooks.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import type { FieldRow } from "../../objects/fields.ts";
import type { ObjectKind } from "../../objects/kinds.ts";

const fields: readonly FieldRow[] = [
	{ name: "name", label: "Name", kind: "text", hint: "People see it on the sign-in page." },
	{
		name: "issuer",
		label: "Issuer",
		kind: "url",
		hint: "Its discovery document is at /.well-known/openid-configuration below this address.",
	},
	{ name: "client-id", label: "Client id", kind: "text", hint: "Of the application that you register at the provider." },
	{ name: "client-secret", label: "Client secret", kind: "secret" },
	{ name: "enabled", label: "On the sign-in page", kind: "flag", hint: "Test the connection before you switch it on." },
	{ name: "scopes", label: "Scopes", kind: "text", initial: "openid profile email" },
	{ name: "username-claim", label: "Claim with the user name", kind: "text", initial: "preferred_username" },
	{
		name: "groups-claim",
		label: "Claim with the groups",
		kind: "text",
		initial: "groups",
		hint: "A path such as realm_access.roles leads into objects. A token without the claim means no groups. Empty: the provider sends none, and teams stay as they are.",
	},
	{
		name: "subject-claim",
		label: "Claim with the account",
		kind: "text",
		initial: "sub",
		hint: "It must never be given to another person. Change it before anybody has signed in.",
	},
	{
		name: "graph-endpoint",
		label: "Graph endpoint",
		kind: "url",
		nullable: true,
		hint: "Entra ID, for people with too many groups for a token.",
	},
	{ name: "site-admin-group", label: "Group of site admins", kind: "text", nullable: true, hint: "Empty: the provider makes none." },
	{
		name: "site-admin-max-age",
		label: "Site admins confirm who they are after (minutes)",
		kind: "number",
		hint: "At the provider, before they administer the site. Empty: never.",
	},
	{
		name: "trust-email-addresses",
		label: "All of its addresses are confirmed",
		kind: "flag",
		hint: "Only if people can't choose their address there.",
	},
	{ name: "domains", label: "Domains of addresses", kind: "list", hint: "People who enter such an address are led here." },
	{ name: "allowed-organizations", label: "Only for the organizations", kind: "list", hint: "Empty: all may use it." },
	{
		name: "token-days",
		label: "Tokens end after (days)",
		kind: "number",
		initial: "0",
		hint: "Without a sign-in through the provider. 0: never.",
	},
];

function State({ provider }: { readonly provider: Resource }) {
	return flag(provider, "enabled") ? <Mark tone="success">Enabled</Mark> : <Mark tone="muted">Disabled</Mark>;
}

type Facts = { readonly keys: number; readonly "notifies-of-logouts": boolean };

function Check({ provider }: { readonly provider: Resource }) {
	const { error, attempt } = useAttempt();
	const [facts, setFacts] = useState<Facts | undefined>();
	const path = `/admin/oidc-settings/${segment(provider.id)}/actions/check`;
	const send = () =>
		attempt(async () => {
			setFacts((await change("POST", address(path))) as unknown as Facts);
		});
	return (
		<>
			<Problems of={error} />
			{facts && (
				<p role="status">
					The provider answers, with {counted(facts.keys, "key")}. It {facts["notifies-of-logouts"] ? "tells" : "does not tell"} of logouts.
				</p>
			)}
			<Button label={`Check ${text(provider, "name")}`} onPress={send}>
				Check
			</Button>{" "}
			<a class="button" href={`/oidc/${segment(provider.id)}/sign-in?purpose=test`}>
				Test a sign-in
			</a>
		</>
	);
}

export const oidcKind: ObjectKind = {
	type: "oidc-settings",
	one: "provider",
	many: "OpenID providers",
	empty: "There is none. People sign in with passwords.",
	name: (item) => text(item, "name"),
	item: (id) => `/admin/oidc-settings/${segment(id)}`,
	fields,
	columns: [
		{ key: "state", head: "State", class: "tight", cell: (item) => <State provider={item} /> },
		{
			key: "addresses",
			head: "Register there",
			class: "wide",
			cell: (item) => (
				<>
					Redirect URI <CopyId id={location.origin + text(item, "redirect-path")} />
					<br />
					Back-channel logout <CopyId id={location.origin + text(item, "logout-path")} />
				</>
			),
		},
	],
	actions: (item) => <Check provider={item} />,
	removes: "Sessions and tokens that were made through it end. Accounts stay, and belong to the next provider with this issuer.",
	typed: true,
};
