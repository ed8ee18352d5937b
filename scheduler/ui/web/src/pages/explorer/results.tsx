// SPDX-License-Identifier: MPL-2.0
import type { ExplorerField } from "generated/explorer";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ListStatus } from "../../components/list_status.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { useStableRows } from "../../core/stable_rows.ts";
import type { Target } from "../workspaces/bulk_send.ts";
import { BulkBar, targetColumn } from "./bulk_bar.tsx";
import { addressOf, emptyFilters, fieldOf, parametersOf, type Query, viewOf } from "./query.ts";
import { fieldWord } from "./words.ts";

type Props = { readonly org: string; readonly query: Query };

export function Results({ org, query }: Props) {
	const [chosen, setChosen] = useState<readonly Target[]>([]);
	const selectable = query.type === "workspaces";
	const page = useQuery().get("page") ?? 1;
	const url = address(`/organizations/${segment(org)}/explorer`, { ...parametersOf(query), "page[number]": page, "page[size]": 50 });
	const list = useDocument(url + emptyFilters(parametersOf(query)));
	const rows = useStableRows(list, url);
	const total = list.pages?.["total-count"];
	useLive([`org:${org}`], () => void list.reload());
	return (
		<Content of={list}>
			{() =>
				rows.rows.length > 0 ? (
					<>
						<ListStatus rows={rows} word="show">
							{total === undefined ? "More than 10,000 rows" : `${count(total)} in total`}
						</ListStatus>
						{selectable && <BulkBar org={org} query={query} total={total} chosen={chosen} setChosen={setChosen} />}
						<section class="explorer-rows" aria-label="Results">
							<Table
								caption="Results"
								columns={[...(selectable ? [targetColumn({ chosen, setChosen }, rows.rows)] : []), ...columnsOf(org, query)]}
								rows={rows.rows}
							/>
						</section>
						<Pagination pages={list.pages} />
					</>
				) : (
					<EmptyState title="No rows">
						<p>
							{query.conditions.length > 0
								? "Nothing fits all conditions."
								: "Nothing is known yet. Rows appear shortly after the first state of a workspace, and modules after its first run."}
						</p>
					</EmptyState>
				)
			}
		</Content>
	);
}

function columnsOf(org: string, query: Query): readonly Column[] {
	const view = viewOf(query.type);
	const names = query.columns.length > 0 ? query.columns : (view?.fields ?? []).map((field) => field.name);
	return names.flatMap((name) => {
		const field = view && fieldOf(view, name);
		return field
			? [
					{
						key: name,
						head: <SortLink org={org} query={query} field={field} />,
						sort: sortOf(query, field),
						cell: (row: Resource) => cellOf(org, row, field),
					},
				]
			: [];
	});
}

function sortOf(query: Query, field: ExplorerField): "ascending" | "descending" | "none" {
	return query.sort === field.name ? "ascending" : query.sort === `-${field.name}` ? "descending" : "none";
}

function SortLink({ org, query, field }: Props & { readonly field: ExplorerField }) {
	const view = useQuery().get("view") ?? "";
	const sort = sortOf(query, field);
	const next = addressOf({ ...query, sort: sort === "ascending" ? `-${field.name}` : field.name }, view);
	return (
		<a href={`${pathTo("/app/:org/explorer", { org })}?${next}`}>
			{fieldWord(field.name)}
			{sort !== "none" && <span aria-hidden="true">{sort === "ascending" ? " ▲" : " ▼"}</span>}
		</a>
	);
}

// Numbers of a row that lead to the rows that they count.
const counts: Readonly<Record<string, readonly [field: string, type: string]>> = {
	module_count: ["workspace_name", "modules"],
	provider_count: ["workspace_name", "providers"],
	resource_count: ["workspace_name", "resources"],
};

function cellOf(org: string, row: Resource, field: ExplorerField): ComponentChildren {
	const value = row.attributes[field.shown];
	if (value === null || value === undefined || value === "") {
		return <span class="muted">–</span>;
	}
	if (field.kind === "TIME") {
		return <TimeAgo time={value} />;
	}
	if (field.name === "workspace_name") {
		return <a href={pathTo("/app/:org/workspaces/:ws", { org, ws: String(value) })}>{String(value)}</a>;
	}
	const counted = counts[field.name];
	const workspace = text(row, "workspace-name");
	if (counted && workspace && typeof value === "number") {
		const [name, type] = counted;
		const condition =
			type === "resources"
				? { field: name, operator: "is", value: workspace }
				: { field: "workspaces", operator: "contains", value: workspace };
		return (
			<a href={`${pathTo("/app/:org/explorer", { org })}?${addressOf({ type, conditions: [condition], sort: "", columns: [] })}`}>
				{count(value)}
			</a>
		);
	}
	return typeof value === "number" ? count(value) : <bdi>{String(value)}</bdi>;
}
