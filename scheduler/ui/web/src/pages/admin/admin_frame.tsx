// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { NotFound } from "../../components/error_panel.tsx";
import { session } from "../../core/session.ts";
import { useTitle } from "../../core/title.ts";
import { SettingsLayout } from "../../objects/settings_layout.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";

type Props = { readonly section: SectionKey; readonly intro?: ComponentChildren | undefined; readonly children: ComponentChildren };

// A page for site admins. To others it does not exist, and the API refuses what it would show.
export function AdminFrame({ section, intro, children }: Props) {
	const allowed = session().siteAdmin;
	const word = wordOf(section);
	useTitle(allowed ? [word, "Site"] : ["Not found"]);
	if (!allowed) {
		return <NotFound />;
	}
	return (
		<>
			<Breadcrumb crumbs={[{ word: "Site administration", href: "/app/admin/organizations" }, { word }]} />
			<SettingsLayout label="Site administration" pages={sections} shown={section} below="/app/admin">
				<h1 tabIndex={-1}>{word}</h1>
				{intro && <p>{intro}</p>}
				{children}
			</SettingsLayout>
		</>
	);
}

// The pages of site admins, in the order of the side list.

export const sections = [
	{ key: "organizations", word: "Organizations" },
	{ key: "users", word: "Users" },
	{ key: "oidc", word: "OpenID providers" },
	{ key: "saml", word: "SAML" },
	{ key: "scim", word: "Provisioning" },
	{ key: "versions", word: "Engine versions" },
	{ key: "general", word: "General" },
	{ key: "costs", word: "Cost estimates" },
	{ key: "mail", word: "Mail server" },
	{ key: "texts", word: "Texts" },
	{ key: "maintenance", word: "Maintenance" },
	{ key: "audit-trail", word: "Audit trail" },
	{ key: "queue", word: "Queue and workers" },
] as const;

export type SectionKey = (typeof sections)[number]["key"];

export function wordOf(section: SectionKey): string {
	return sections.find(({ key }) => key === section)?.word ?? section;
}
