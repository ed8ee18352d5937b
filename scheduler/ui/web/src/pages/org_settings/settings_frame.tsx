// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { Content } from "../../components/states.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, type Resource } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { SettingsLayout } from "../../objects/settings_layout.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";

export type OrganizationView = {
	readonly org: string;
	readonly path: string; // of the organization in the API
	readonly organization: Resource;
	readonly may: (right: string) => boolean;
};

type Props = {
	readonly params: PageProps["params"];
	readonly section: string;
	readonly intro?: ComponentChildren;
	readonly children: (view: OrganizationView) => ComponentChildren;
};

// The settings of an organization. The list has the pages that the user may see.
export function SettingsFrame({ params, section, intro, children }: Props) {
	const org = params.org ?? "";
	const path = `/organizations/${segment(org)}`;
	const below = pathTo("/app/:org/settings", { org });
	const of = useDocument(address(path));
	const word = sections.find(({ key }) => key === section)?.word ?? section;
	useTitle([word, "Settings", org]);
	return (
		<>
			<Breadcrumb
				crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Settings", href: `${below}/general` }, { word }]}
			/>
			<SettingsLayout
				label="Settings"
				pages={sections.filter(({ key, right }) => !right || key === section || may(of.item, right))}
				shown={section}
				below={below}
			>
				<h1 tabIndex={-1}>{word}</h1>
				{intro && <p>{intro}</p>}
				<Content of={of}>{() => of.item && children({ org, path, organization: of.item, may: (right) => may(of.item, right) })}</Content>
			</SettingsLayout>
		</>
	);
}

// without: why a control is disabled for those who lack the right.
export function without(view: OrganizationView, right: string, what: string): string | undefined {
	return view.may(right) ? undefined : `you need the permission to ${what}`;
}

// The settings pages of an organization, in the order of the side list.

export type Section = {
	readonly key: string;
	readonly word: string;
	readonly right?: string; // of the organization; without it, the page is not in the list
};

export const sections: readonly Section[] = [
	{ key: "general", word: "General" },
	{ key: "teams", word: "Teams" },
	{ key: "members", word: "Members", right: "can-manage-memberships" },
	{ key: "sso", word: "Single sign-on", right: "can-update" },
	{ key: "agent-pools", word: "Agent pools" },
	{ key: "run-tasks", word: "Run tasks" },
	{ key: "policy-sets", word: "Policy sets" },
	{ key: "policies", word: "Policies" },
	{ key: "variable-sets", word: "Variable sets" },
	{ key: "provider-sets", word: "Provider sets" },
	{ key: "vcs-connections", word: "VCS connections" },
	{ key: "maintenance-windows", word: "Maintenance windows" },
	{ key: "ssh-keys", word: "SSH keys" },
	{ key: "gpg-keys", word: "GPG keys" },
	{ key: "tokens", word: "Tokens", right: "can-update-api-token" },
	{ key: "notifications", word: "Notifications" },
	{ key: "audit-trail", word: "Audit trail", right: "can-read-audit-trail" },
];
