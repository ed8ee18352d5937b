// SPDX-License-Identifier: MPL-2.0
// Runs with filters: those of a workspace, or of an organization.

import { FilterChips, FilterSelect, NothingMatches } from "../../components/filters.tsx";
import { ListStatus } from "../../components/list_status.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { useStableRows } from "../../core/stable_rows.ts";
import { filterNames, operations, runFilter, runGroups, sources, statusOptions } from "./query.ts";
import { RunTable, runIncludes } from "./run_table.tsx";

type Props = {
	readonly path: string; // of the list in the API
	readonly topic: string;
	readonly org: string;
	readonly ws?: string;
};

function Filters() {
	const query = useQuery();
	return (
		<div class="filters">
			<FilterChips label="Filter by status" name="status" chips={[{ key: "", word: "All" }, ...runGroups]} />
			<FilterSelect label="Status" name="status" options={statusOptions} />
			<FilterSelect label="Operation" name="operation" options={[["", "Any operation"], ...operations]} />
			<FilterSelect label="Source" name="source" options={[["", "Any source"], ...sources]} />
			<SearchField label="Search runs" hint="Message, run id, user:NAME" name="q" value={query.get("q") ?? ""} />
		</div>
	);
}

export function RunList({ path, topic, org, ws }: Props) {
	const query = useQuery();
	const url = address(path, { ...runFilter(query), include: ws === undefined ? `${runIncludes},workspace` : runIncludes });
	const list = useDocument(url);
	const rows = useStableRows(list, url);
	const total = list.pages?.["total-count"];
	useLive([topic], () => void list.reload());
	return (
		<>
			<Filters />
			<Content of={list}>
				{() => {
					if (rows.rows.length > 0) {
						return (
							<>
								<ListStatus rows={rows} word="show">
									{total === undefined ? "" : `${count(total)} in total`}
								</ListStatus>
								<RunTable caption="Runs" org={org} runs={rows.rows} {...(ws !== undefined && { ws })} />
								<Pagination pages={list.pages} />
							</>
						);
					}
					return filterNames.some((name) => query.get(name)) ? (
						<NothingMatches />
					) : (
						<EmptyState title="No runs">
							<p>Run terraform plan in a configuration with the cloud block, or Queue Plan once a configuration was uploaded.</p>
						</EmptyState>
					);
				}}
			</Content>
		</>
	);
}
