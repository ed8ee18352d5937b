// SPDX-License-Identifier: MPL-2.0
import { NothingMatches } from "../../components/filters.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { latestOf, setupOf, versionsOf } from "./module_words.ts";

const columnsOf = (org: string): readonly Column[] => [
	{
		key: "name",
		head: "Module",
		cell: (module) => (
			<>
				<a class="row-link" href={pathTo("/app/:org/modules/:module", { org, module: module.id })}>
					{text(module, "name")}
				</a>
				<div class="muted">
					{text(module, "registry-name") === "public" ? `${text(module, "namespace")}, public` : text(module, "namespace")}
				</div>
			</>
		),
	},
	{ key: "provider", head: "Provider", cell: (module) => text(module, "provider") },
	{ key: "latest", head: "Latest version", cell: (module) => latestOf(versionsOf(module)) || "–" },
	{
		key: "state",
		head: "State",
		cell: (module) => {
			const [tone, word] = setupOf(module);
			return <Mark tone={tone}>{word}</Mark>;
		},
	},
	{ key: "updated", head: "Changed", class: "wide", cell: (module) => <TimeAgo time={module.attributes["updated-at"]} /> },
];

export default function Modules({ params }: PageProps) {
	const org = params.org ?? "";
	const query = useQuery();
	const searched = query.get("q") ?? "";
	useTitle(["Modules", org]);
	const list = useDocument(
		address(`/organizations/${segment(org)}/registry-modules`, {
			q: searched || undefined,
			"page[number]": query.get("page") ?? 1,
			"page[size]": 30,
		}),
	);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Modules" }]} />
			<h1 tabIndex={-1}>Modules</h1>
			<p>Modules that the configurations of the organization may call by the address of this server.</p>
			<div class="filters">
				<SearchField label="Search modules" hint="Name, namespace or provider" name="q" value={searched} />
			</div>
			<Content of={list}>
				{() => {
					if (list.items.length === 0) {
						return searched ? (
							<NothingMatches />
						) : (
							<EmptyState title="No modules">
								<p>Modules are published by the API: by upload, or from the tags of a repository terraform-PROVIDER-NAME.</p>
							</EmptyState>
						);
					}
					return (
						<>
							<p class="muted">{counted(list.pages?.["total-count"] ?? list.items.length, "module")}</p>
							<Table caption="Modules" columns={columnsOf(org)} rows={list.items} stacked />
							<Pagination pages={list.pages} />
						</>
					);
				}}
			</Content>
		</>
	);
}
