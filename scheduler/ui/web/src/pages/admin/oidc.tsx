// SPDX-License-Identifier: MPL-2.0

import { Fold } from "../../components/fold.tsx";
import { address } from "../../core/api.ts";
import { useQuery } from "../../core/hooks.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { AdminFrame } from "./admin_frame.tsx";
import { oidcKind } from "./oidc_kind.tsx";

const path = "/admin/oidc-settings";

// What to do at a provider, in the words of its pages. deploy/identity has the same at length.
const guides: readonly { readonly name: string; readonly steps: readonly string[] }[] = [
	{
		name: "Keycloak",
		steps: [
			"Issuer: https://HOST/realms/REALM.",
			"Clients, Create client: OpenID Connect, a client id, then Client authentication on and Standard flow on.",
			"Valid redirect URIs and Backchannel logout URL: the two addresses that this page shows. Backchannel logout session required: off. Credentials has the secret.",
			"Client scopes, the dedicated scope, Add mapper, Group Membership: claim groups, Full group path off, in the ID token.",
		],
	},
	{
		name: "Entra ID",
		steps: [
			"App registrations, New registration: Redirect URI of the kind Web. Issuer: https://login.microsoftonline.com/TENANT/v2.0.",
			"Certificates & secrets, New client secret. Token configuration, Add optional claim email, Add groups claim.",
			"Here: scopes openid profile email User.Read, claim with the account oid.",
			"Groups are object ids: set them as the SSO team id of teams. Graph endpoint: https://graph.microsoft.com/v1.0/me/transitiveMemberOf?$select=id&$top=999.",
		],
	},
	{
		name: "Okta",
		steps: [
			"Applications, Create App Integration: OIDC, Web Application. Sign-in redirect URI: the address that this page shows.",
			"Issuer: https://ORG.okta.com. Sign On, OpenID Connect ID Token: Groups claim type Filter, groups, Matches regex .*",
			"Scopes here: openid profile email groups.",
		],
	},
	{
		name: "Google",
		steps: [
			"APIs & Services, Credentials, Create OAuth client ID: Web application, with the redirect URI that this page shows.",
			"Issuer: https://accounts.google.com. Claim with the user name: email. Google sends no groups: clear the claim with the groups, and choose teams by hand. The audience of the project must be internal.",
		],
	},
];

function Guides() {
	return (
		<section aria-label="What to do at the provider">
			<h2>What to do at the provider</h2>
			{guides.map(({ name, steps }) => (
				<Fold key={name} summary={name} open={false}>
					{() => (
						<ol>
							{steps.map((step) => (
								<li key={step}>{step}</li>
							))}
						</ol>
					)}
				</Fold>
			))}
		</section>
	);
}

export default function AdminOidc() {
	const query = useQuery();
	const url = address(path, { "page[number]": query.get("page") ?? undefined });
	return (
		<AdminFrame
			section="oidc"
			intro="Create the provider here, switched off. Register the addresses that it then shows at the provider, enter its client id and secret, and test a sign-in."
		>
			<ObjectList kind={oidcKind} url={url} createPath={path} />
			<Guides />
		</AdminFrame>
	);
}
