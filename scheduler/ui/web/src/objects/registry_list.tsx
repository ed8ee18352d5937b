// SPDX-License-Identifier: MPL-2.0
// A page that lists what an organization's registry has of one kind, with a search.

import type { ComponentChildren } from "preact";
import { NothingMatches } from "../components/filters.tsx";
import { Pagination } from "../components/pagination.tsx";
import { SearchField } from "../components/search_field.tsx";
import { Content, EmptyState } from "../components/states.tsx";
import { type Column, Table } from "../components/table.tsx";
import { TimeAgo } from "../components/time_ago.tsx";
import { address, segment } from "../core/api.ts";
import { counted } from "../core/format.ts";
import { useDocument, useQuery } from "../core/hooks.ts";
import { type Resource, text } from "../core/resource.ts";
import { pathTo } from "../core/router.ts";
import { store } from "../core/store.ts";
import { useTitle } from "../core/title.ts";
import { Breadcrumb } from "../shell/breadcrumb.tsx";
import { TagChips } from "./tag_list.tsx";
import { isOwn, searchParts, tagFilters, tagOf } from "./tag_search.ts";

type Props = {
	readonly org: string;
	readonly title: "Modules" | "Providers";
	readonly word: string; // of one
	readonly resources: string; // the last part of the list's address
	readonly intro: ComponentChildren;
	readonly empty: ComponentChildren; // how one is published
	readonly publish?: ComponentChildren; // the buttons beside the heading
	readonly pathOf: (item: Resource) => string;
	readonly columns: readonly Column[]; // between the name and the time of the last change
};

const columnsOf = ({ org, word, title, pathOf, columns }: Props): readonly Column[] => [
	{
		key: "name",
		head: word[0]?.toUpperCase() + word.slice(1),
		cell: (item) => (
			<>
				<a class="row-link" href={pathOf(item)}>
					{text(item, "name")}
				</a>
				{isOwn(org, item) && <TagChips tags={store.many(item, "tag-bindings").map(tagOf)} path={location.pathname} what={title} />}
				<div class="muted">{text(item, "registry-name") === "public" ? `${text(item, "namespace")}, public` : text(item, "namespace")}</div>
			</>
		),
	},
	...columns,
	{ key: "updated", head: "Changed", class: "wide", cell: (item) => <TimeAgo time={item.attributes["updated-at"]} /> },
];

export function RegistryList(props: Props) {
	const { org, title, word, resources, intro, empty, publish } = props;
	const query = useQuery();
	const searched = query.get("q") ?? "";
	const { words, tags } = searchParts(searched);
	useTitle([title, org]);
	const list = useDocument(
		address(`/organizations/${segment(org)}/${resources}`, {
			q: words,
			...tagFilters(tags),
			include: "tag-bindings",
			"page[number]": query.get("page") ?? 1,
			"page[size]": 30,
		}),
	);
	const none = searched ? <NothingMatches /> : <EmptyState title={`No ${title.toLowerCase()}`}>{empty}</EmptyState>;
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: title }]} />
			<div class="page-head">
				<h1 tabIndex={-1}>{title}</h1>
				{publish}
			</div>
			<p>{intro}</p>
			<div class="filters">
				<SearchField label={`Search ${title.toLowerCase()}`} hint="Name, tag:KEY=VALUE" name="q" value={searched} />
			</div>
			<Content of={list}>
				{() =>
					list.items.length === 0 ? (
						none
					) : (
						<>
							<p class="muted">{counted(list.pages?.["total-count"] ?? list.items.length, word)}</p>
							<Table caption={title} columns={columnsOf(props)} rows={list.items} stacked />
							<Pagination pages={list.pages} />
						</>
					)
				}
			</Content>
		</>
	);
}
