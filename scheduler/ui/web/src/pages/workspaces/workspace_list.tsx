// SPDX-License-Identifier: MPL-2.0
// The workspaces of an organization or of a project, with filters.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { FilterChips, FilterSelect, NothingMatches } from "../../components/filters.tsx";
import { ListStatus } from "../../components/list_status.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { selectColumn } from "../../components/select_column.tsx";
import { Content } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { type Loaded, useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type StableRows, useStableRows } from "../../core/stable_rows.ts";
import { workspaceGroups } from "../../core/status.ts";
import { BulkBar } from "./bulk.tsx";
import { columnsOf } from "./cells.tsx";
import { groupCounts, healthFilters, searchOf, sortOf } from "./list.ts";

type Props = {
	readonly org: string;
	readonly project?: string; // only those of this project
	readonly projects?: readonly Resource[]; // to choose from
	readonly empty: ComponentChildren;
};

const filterNames = ["status", "q", "project", "health"];

function useList(org: string, project: string | undefined): { list: Loaded; counts: Loaded; url: string } {
	const query = useQuery();
	const group = workspaceGroups.find((candidate) => candidate.key === query.get("status"));
	const within = project ?? query.get("project") ?? undefined;
	const path = `/organizations/${segment(org)}`;
	const url = address(`${path}/workspaces`, {
		...searchOf(query.get("q") ?? ""),
		"filter[current-run][status]": group?.names.join(","),
		"filter[health]": query.get("health") ?? undefined,
		"filter[project][id]": within,
		sort: sortOf(query.get("sort") ?? ""),
		"page[number]": query.get("page") ?? undefined,
		"page[size]": 50,
		include: "current_run,project,locked_by,recent_runs,current_assessment_result",
	});
	const list = useDocument(url);
	const counts = useDocument(address(`${path}/workspace-status-counts`, { "filter[project][id]": within }));
	useLive([`org:${org}`], () => {
		void list.reload();
		void counts.reload();
	});
	return { list, counts, url };
}

export function WorkspaceList({ org, project, projects = [], empty }: Props) {
	const { list, counts, url } = useList(org, project);
	const rows = useStableRows(list, url);
	const query = useQuery();
	const numbers = groupCounts(counts.item);
	const chips = [{ key: "", word: "All" }, ...workspaceGroups].map(({ key, word }) => ({ key, word, count: numbers[key] }));
	const filtered = filterNames.some((name) => query.get(name));
	return (
		<>
			<div class="filters">
				<FilterChips label="Filter by status" name="status" chips={chips} />
				<SearchField label="Search by name" hint="Search by name, tag:NAME" name="q" value={query.get("q") ?? ""} />
				<FilterSelect label="Filter by health" name="health" options={healthFilters} />
				{projects.length > 1 && (
					<FilterSelect
						label="Filter by project"
						name="project"
						options={[["", "All projects"], ...projects.map((item) => [item.id, text(item, "name")] as const)]}
					/>
				)}
			</div>
			<Content of={list}>
				{() =>
					rows.rows.length > 0 ? (
						<ListRows org={org} list={list} rows={rows} withProject={!project} />
					) : filtered ? (
						<NothingMatches />
					) : (
						empty
					)
				}
			</Content>
		</>
	);
}

type RowsProps = { readonly org: string; readonly list: Loaded; readonly rows: StableRows; readonly withProject: boolean };

function ListRows({ org, list, rows, withProject }: RowsProps) {
	const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
	const toggle = (ids: readonly string[], on: boolean) => {
		const next = new Set(chosen);
		for (const id of ids) {
			if (on) {
				next.add(id);
			} else {
				next.delete(id);
			}
		}
		setChosen(next);
	};
	const select = selectColumn({
		rows: rows.rows,
		isChosen: (id) => chosen.has(id),
		nameOf: (row) => text(row, "name"),
		onToggle: (toggled, on) =>
			toggle(
				toggled.map(({ id }) => id),
				on,
			),
	});
	const selected = rows.rows.filter((row) => chosen.has(row.id));
	const done = (ids: readonly string[]) => {
		toggle(ids, false);
		void list.reload();
	};
	return (
		<>
			<ListStatus rows={rows} word="re-sort">
				<BulkBar selected={selected} onDone={done} onClear={() => setChosen(new Set())} />
			</ListStatus>
			<Table
				caption={counted(list.pages?.["total-count"] ?? rows.rows.length, "workspace")}
				columns={[select, ...columnsOf(org, withProject)]}
				rows={rows.rows}
			/>
			<Pagination pages={list.pages} />
		</>
	);
}
