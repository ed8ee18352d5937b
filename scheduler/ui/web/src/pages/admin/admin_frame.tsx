// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { NotFound } from "../../components/error_panel.tsx";
import { SettingsLayout } from "../../components/settings_layout.tsx";
import { session } from "../../core/session.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { type SectionKey, sections, wordOf } from "./sections.ts";

type Props = { readonly section: SectionKey; readonly intro?: ComponentChildren; readonly children: ComponentChildren };

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
