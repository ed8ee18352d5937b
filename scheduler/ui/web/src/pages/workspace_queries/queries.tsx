// SPDX-License-Identifier: MPL-2.0
// The query runs of a workspace. `terraform query` begins them.

import { Pagination } from "../../components/pagination.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { queryLook, sourceWord } from "./query_words.ts";

export default function Queries({ params }: PageProps) {
	return (
		<Frame params={params} page="queries" needs={{ right: "can-read-run", note: "You need read access to the runs of this workspace." }}>
			{(view) => <QueryList view={view} />}
		</Frame>
	);
}

export function QueryMark({ query }: { readonly query: Resource }) {
	const { tone, word } = queryLook(query);
	return <Mark tone={tone}>{word}</Mark>;
}

export const creatorOf = (query: Resource) => text(store.one(query, "created-by"), "username");

const columnsOf = (view: WorkspaceView): readonly Column[] => [
	{
		key: "status",
		head: "Status",
		cell: (query) => (
			<a
				class="row-link"
				href={pathTo("/app/:org/workspaces/:ws/queries/:query", { org: view.org, ws: view.name, query: query.id })}
				aria-label={`${queryLook(query).word}: ${query.id}`}
			>
				<QueryMark query={query} />
			</a>
		),
	},
	{ key: "created", head: "Created", cell: (query) => <TimeAgo time={query.attributes["created-at"]} /> },
	{ key: "by", head: "By", cell: creatorOf },
	{ key: "source", head: "From", class: "wide", cell: (query) => sourceWord(text(query, "source")) },
	{ key: "version", head: "Terraform", class: "wide", cell: (query) => text(query, "terraform-version") },
];

function QueryList({ view }: { readonly view: WorkspaceView }) {
	const query = useQuery();
	const path = `/workspaces/${segment(view.workspace.id)}/queries`;
	const queries = useDocument(address(path, { "page[number]": query.get("page") ?? undefined, "page[size]": 50, include: "created_by" }));
	useLive([`workspace:${view.workspace.id}`], () => void queries.reload());
	return (
		<Content of={queries}>
			{() => (
				<>
					{queries.items.length > 0 ? (
						<Table caption="Queries" columns={columnsOf(view)} rows={queries.items} stacked />
					) : (
						<EmptyState title="No query yet">
							<p>
								A query lists resources that exist, also those that no state has. Write list blocks into a file that ends with .tfquery.hcl,
								and run terraform query. It needs Terraform 1.14 or later.
							</p>
						</EmptyState>
					)}
					<Pagination pages={queries.pages} />
				</>
			)}
		</Content>
	);
}
