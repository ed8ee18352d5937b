// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { NotFound } from "../../components/error_panel.tsx";
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
			<div class="settings">
				<nav class="settings-nav" aria-label="Site administration">
					{sections.map((item) => (
						<a key={item.key} href={`/app/admin/${item.key}`} aria-current={item.key === section ? "page" : undefined}>
							{item.word}
						</a>
					))}
				</nav>
				<div class="settings-body">
					<h1 tabIndex={-1}>{word}</h1>
					{intro && <p>{intro}</p>}
					{children}
				</div>
			</div>
		</>
	);
}
