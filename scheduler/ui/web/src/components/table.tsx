// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import type { Resource } from "../core/resource.ts";

export type Column<T = Resource> = {
	readonly key: string;
	readonly head: ComponentChildren;
	readonly cell: (row: T) => ComponentChildren;
	readonly sort?: "ascending" | "descending" | "none";
	readonly class?: string;
};

type PlainProps<T> = {
	readonly caption: string; // for screen readers
	readonly columns: readonly Column<T>[];
	readonly rows: readonly T[];
	readonly keyOf: (row: T, at: number) => string;
	readonly class?: string;
	readonly rowClass?: (row: T) => string;
};

export function PlainTable<T>({ caption, columns, rows, keyOf, class: kind, rowClass }: PlainProps<T>) {
	return (
		<table class={kind}>
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
				{rows.map((row, at) => (
					<tr key={keyOf(row, at)} class={rowClass?.(row)}>
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

type Props = {
	readonly caption: string;
	readonly columns: readonly Column[];
	readonly rows: readonly Resource[];
	readonly stacked?: boolean; // rows become blocks where there is no room for columns
};

// A table of objects. The first cell of a row holds its link (<a class="row-link">), whose area is the whole row.
export function Table({ stacked = false, ...props }: Props) {
	return <PlainTable {...props} keyOf={(row) => row.id} class={stacked ? "rows stack" : "rows"} />;
}
