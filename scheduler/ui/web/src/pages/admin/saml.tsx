// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { address, change } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import type { FieldRow, Options } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { AdminFrame } from "./admin_frame.tsx";

const path = "/admin/saml-settings";

const types: Options = [
	["unknown", "Not said"],
	["okta", "Okta"],
	["entra", "Microsoft Entra ID"],
	["saml", "Another"],
];
const methods: Options = ["SHA256", "SHA384", "SHA512", "SHA1"].map((method) => [method, method] as const);

const fields: readonly FieldRow[] = [
	{ name: "enabled", label: "People sign in by SAML", kind: "flag", hint: "Test the settings before you switch it on." },
	{ name: "name", label: "Name on the sign-in page", kind: "text", longest: 64 },
	{
		heading: "The identity provider",
		name: "idp-metadata-url",
		label: "Address of its metadata",
		kind: "text",
		hint: "Read once, when you save. It fills in the fields below.",
	},
	{ name: "idp-metadata", label: "Or its metadata as text", kind: "long" },
	{ name: "idp-entity-id", label: "Entity id", kind: "text", nullable: true, hint: "Empty: that of the first answer." },
	{ name: "sso-endpoint-url", label: "Single sign-on URL", kind: "text", nullable: true },
	{ name: "slo-endpoint-url", label: "Single logout URL", kind: "text", nullable: true },
	{
		name: "idp-cert",
		label: "Certificate",
		kind: "long",
		nullable: true,
		hint: "In PEM. The one that it replaces is accepted until you revoke it.",
	},
	{ name: "provider-type", label: "Kind", kind: "choice", options: types },
	{ heading: "Attributes", name: "attr-username", label: "User name", kind: "text", nullable: true },
	{ name: "attr-groups", label: "Teams", kind: "text", nullable: true },
	{ name: "attr-site-admin", label: "Site administrator", kind: "text", nullable: true },
	{ name: "site-admin-role", label: "Team name of site administrators", kind: "text", hint: "Empty: no team makes one." },
	{ name: "team-management-enabled", label: "The provider decides who is in which team", kind: "flag" },
	{ name: "email-addresses-verified", label: "The provider's e-mail addresses count as confirmed", kind: "flag" },
	{
		heading: "Requests and sessions",
		name: "authn-requests-signed",
		label: "Sign requests",
		kind: "flag",
	},
	{ name: "certificate", label: "Certificate of this server", kind: "long", nullable: true },
	{ name: "private-key", label: "Its private key", kind: "secret", hint: "It is never shown." },
	{ name: "signature-signing-method", label: "Signatures of requests", kind: "choice", options: methods },
	{ name: "idp-initiated-enabled", label: "Accept sign-ins that begin at the provider", kind: "flag" },
	{
		name: "sso-api-token-session-timeout",
		label: "Seconds for which a person's tokens are valid after a sign-in",
		kind: "number",
		hint: "0: no limit.",
	},
	{ name: "debug", label: "Show people the reason of a refusal", kind: "flag" },
];

const kind = { type: "saml-settings", fields, item: () => path };

// The values to enter at the provider.
function Ours({ item }: { readonly item: Resource }) {
	return (
		<>
			{(
				[
					["Entity id, and address of the metadata", "metadata-url"],
					["Assertion consumer service (ACS)", "acs-consumer-url"],
					["Single logout", "slo-url"],
				] as const
			).map(([word, name]) => (
				<p key={name}>
					{word}
					<br />
					<CopyId id={String(item.attributes[name])} />
				</p>
			))}
		</>
	);
}

function Problems({ item }: { readonly item: Resource }) {
	const problems = (item.attributes.problems ?? []) as readonly string[];
	return problems.length === 0 ? null : (
		<section class="panel" aria-label="Problems">
			<p>The settings do not work yet:</p>
			<ul>
				{problems.map((problem) => (
					<li key={problem}>{problem}</li>
				))}
			</ul>
		</section>
	);
}

function Actions({ item }: { readonly item: Resource }) {
	const revoke = async () => {
		await change("POST", address(`${path}/actions/revoke-old-certificate`));
		announce("The old certificate is revoked");
	};
	return (
		<div class="actions">
			<a class="button" href="/users/saml/auth?purpose=test">
				Test the sign-in
			</a>
			{item.attributes["old-idp-cert"] && <Button onPress={revoke}>Revoke the old certificate</Button>}
		</div>
	);
}

function Provider() {
	const settings = useDocument(address(path));
	return (
		<Content of={settings}>
			{() =>
				settings.item && (
					<>
						<h2>What to enter at the identity provider</h2>
						<Ours item={settings.item} />
						<Problems item={settings.item} />
						<Actions item={settings.item} />
						<h2>Settings</h2>
						<SettingsForm kind={kind} item={settings.item} reason={undefined} />
					</>
				)
			}
		</Content>
	);
}

export default function AdminSaml() {
	return (
		<AdminFrame section="saml">
			<Provider />
		</AdminFrame>
	);
}
