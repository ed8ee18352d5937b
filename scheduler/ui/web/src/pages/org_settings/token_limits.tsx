// SPDX-License-Identifier: MPL-2.0
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { type OrganizationView, without } from "./settings_frame.tsx";

const msPerDay = 86_400_000;

const fields: readonly FieldRow[] = [
	{ name: "organization", label: "Organization token (days)", kind: "number" },
	{ name: "team", label: "Tokens of teams (days)", kind: "number" },
	{ name: "user", label: "Tokens of people (days)", kind: "number", hint: "Older ones work elsewhere, but not in this organization." },
	{ name: "audit_trails", label: "Audit trail token (days)", kind: "number" },
];

// The API has a list of limits in milliseconds, the form one object with days.
function limitsOf(view: OrganizationView, limits: readonly Resource[]): Resource {
	const days = (limit: Resource) => Math.round(((number(limit, "max-ttl-ms") ?? 0) / msPerDay) * 100) / 100;
	const attributes = Object.fromEntries(limits.map((limit) => [text(limit, "token-type"), days(limit)]));
	return { type: "organization-token-ttl-policies", id: view.org, attributes };
}

function policiesOf(attributes: Readonly<Record<string, unknown>>) {
	const policies = Object.entries(attributes).map(([kind, days]) => ({
		"token-type": kind,
		"max-ttl-ms": Math.round(Number(days) * msPerDay),
	}));
	return { "token-ttl-policies": policies };
}

// The longest lifetimes of tokens, by their kind.
export function TokenLimits({ view }: { readonly view: OrganizationView }) {
	const path = `${view.path}/token-ttl-policies`;
	const limits = useDocument(address(path));
	const kind = { type: "organization-token-ttl-policies", fields, item: () => path };
	const general = <a href={`${pathTo("/app/:org/settings", { org: view.org })}/general`}>General</a>;
	return (
		<section aria-label="Longest lifetimes">
			<h2>Longest lifetimes</h2>
			{flag(view.organization, "max-ttl-enabled") ? (
				<p>They are in force. {general} switches them off.</p>
			) : (
				<p>They are not in force. {general} switches them on.</p>
			)}
			<Content of={limits}>
				{() => (
					<SettingsForm
						kind={kind}
						item={limitsOf(view, limits.items)}
						reason={without(view, "can-update", "manage the organization")}
						sent={policiesOf}
						onSaved={limits.reload}
					/>
				)}
			</Content>
		</section>
	);
}
