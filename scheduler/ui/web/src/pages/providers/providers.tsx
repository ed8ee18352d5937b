// SPDX-License-Identifier: MPL-2.0
import { NothingMatches } from "../../components/filters.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";

const columnsOf = (org: string): readonly Column[] => [
	{
		key: "name",
		head: "Provider",
		cell: (provider) => (
			<>
				<a class="row-link" href={pathTo("/app/:org/providers/:provider", { org, provider: provider.id })}>
					{text(provider, "name")}
				</a>
				<div class="muted">
					{text(provider, "registry-name") === "public" ? `${text(provider, "namespace")}, public` : text(provider, "namespace")}
				</div>
			</>
		),
	},
	{ key: "latest", head: "Latest version", cell: (provider) => text(provider, "latest-version") || "–" },
	{ key: "updated", head: "Changed", class: "wide", cell: (provider) => <TimeAgo time={provider.attributes["updated-at"]} /> },
];

export default function Providers({ params }: PageProps) {
	const org = params.org ?? "";
	const query = useQuery();
	const searched = query.get("q") ?? "";
	useTitle(["Providers", org]);
	const list = useDocument(
		address(`/organizations/${segment(org)}/registry-providers`, {
			q: searched || undefined,
			"page[number]": query.get("page") ?? 1,
			"page[size]": 30,
		}),
	);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Providers" }]} />
			<h1 tabIndex={-1}>Providers</h1>
			<p>
				Private providers that the configurations of the organization may require by the address of this server, and recommended ones of the
				public registry. The <a href={pathTo("/app/:org/settings/gpg-keys", { org })}>GPG keys</a> sign the private ones.
			</p>
			<div class="filters">
				<SearchField label="Search providers" hint="Name or namespace" name="q" value={searched} />
			</div>
			<Content of={list}>
				{() => {
					if (list.items.length === 0) {
						return searched ? (
							<NothingMatches />
						) : (
							<EmptyState title="No providers">
								<p>
									Providers are published by the API: a GPG key, the provider, a version with its signed SHA256SUMS, and an archive for each
									platform.
								</p>
							</EmptyState>
						);
					}
					return (
						<>
							<p class="muted">{counted(list.pages?.["total-count"] ?? list.items.length, "provider")}</p>
							<Table caption="Providers" columns={columnsOf(org)} rows={list.items} stacked />
							<Pagination pages={list.pages} />
						</>
					);
				}}
			</Content>
		</>
	);
}
