// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import type { Resource } from "../core/resource.ts";

export type Column = {
	readonly key: string;
	readonly head: ComponentChildren;
	readonly cell: (row: Resource) => ComponentChildren;
	readonly sort?: "ascending" | "descending" | "none";
	readonly class?: string;
};

type Props = {
	readonly caption: string; // for screen readers
	readonly columns: readonly Column[];
	readonly rows: readonly Resource[];
	readonly stacked?: boolean; // rows become blocks where there is no room for columns
};

// A table of objects. The first cell of a row holds its link (<a class="row-link">), whose area is the whole row.
export function Table({ caption, columns, rows, stacked = false }: Props) {
	return (
		<table class={stacked ? "rows stack" : "rows"}>
			<caption class="sr-only">{caption}</caption>
			<thead>
				<tr>
					{columns.map((column) => (
						<th key={column.key} scope="col" class={column.class} aria-sort={column.sort}>
							{column.head}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{rows.map((row) => (
					<tr key={row.id}>
						{columns.map((column) => (
							<td key={column.key} class={column.class}>
								{column.cell(row)}
							</td>
						))}
					</tr>
				))}
			</tbody>
		</table>
	);
}
