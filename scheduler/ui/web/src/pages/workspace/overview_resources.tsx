// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Content } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, number, type Resource, text } from "../../core/resource.ts";
import type { WorkspaceView } from "./frame.tsx";

const columns = [
	{ key: "address", head: "Address", cell: (item: Resource) => <code>{text(item, "address")}</code> },
	{ key: "type", head: "Type", class: "wide", cell: (item: Resource) => text(item, "provider-type") },
	{ key: "provider", head: "Provider", class: "wide", cell: (item: Resource) => text(item, "provider") },
	{ key: "module", head: "Module", class: "wide", cell: (item: Resource) => text(item, "module") },
];

const filtered = ["address", "provider-type", "provider", "module"];

// The resources of the current state, a page at a time. The filter looks at the page that is shown.
export function Resources({ view }: { readonly view: WorkspaceView }) {
	const [page, setPage] = useState(1);
	const [filter, setFilter] = useState("");
	const { workspace } = view;
	const path = `/workspaces/${segment(workspace.id)}/resources`;
	const list = useDocument(may(workspace, "can-read-run") ? address(path, { "page[number]": page, "page[size]": 100 }) : undefined);
	const wanted = filter.toLowerCase();
	const rows = list.items.filter((item) => filtered.some((name) => text(item, name).toLowerCase().includes(wanted)));
	const total = list.pages?.["total-count"] ?? number(workspace, "resource-count") ?? 0;
	return (
		<section aria-labelledby="resources">
			<div class="page-head">
				<h2 id="resources">Resources ({count(total)})</h2>
				{list.items.length > 0 && (
					<input
						type="search"
						aria-label="Filter resources"
						placeholder={total > list.items.length ? "Filter this page" : "Filter"}
						value={filter}
						onInput={(event) => setFilter(event.currentTarget.value)}
					/>
				)}
			</div>
			<Content of={list}>
				{() =>
					list.items.length === 0 ? (
						<p class="muted">The state has no resources.</p>
					) : rows.length === 0 ? (
						<p class="muted">Nothing matches.</p>
					) : (
						<Table caption="Resources" columns={columns} rows={rows} />
					)
				}
			</Content>
			{(list.pages?.["prev-page"] || list.pages?.["next-page"]) && (
				<div class="actions">
					<Button reason={list.pages["prev-page"] ? undefined : "this is the first page"} onPress={() => setPage(page - 1)}>
						Previous
					</Button>
					<Button reason={list.pages["next-page"] ? undefined : "this is the last page"} onPress={() => setPage(page + 1)}>
						Next
					</Button>
				</div>
			)}
		</section>
	);
}
