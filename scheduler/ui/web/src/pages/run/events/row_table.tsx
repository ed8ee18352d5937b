// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../../components/button.tsx";
import { count } from "../../../core/format.ts";

const firstRows = 50;
const maxRows = 5000;

type Props<T> = {
	readonly caption: string;
	readonly columns: readonly string[];
	readonly rows: readonly T[];
	readonly row: (row: T) => ComponentChildren;
};

// Resources of a plan or an apply, from the events of its log: the first rows, and more on demand.
export function RowTable<T>({ caption, columns, rows, row }: Props<T>) {
	const [all, setAll] = useState(false);
	return (
		<>
			<table class="event-rows">
				<caption class="sr-only">{caption}</caption>
				<thead class="sr-only">
					<tr>
						{columns.map((column) => (
							<th key={column} scope="col">
								{column}
							</th>
						))}
					</tr>
				</thead>
				<tbody>{rows.slice(0, all ? maxRows : firstRows).map(row)}</tbody>
			</table>
			{!all && rows.length > firstRows && <Button onPress={() => setAll(true)}>Show all {count(rows.length)}</Button>}
			{all && rows.length > maxRows && (
				<p class="muted">
					Showing {count(maxRows)} of {count(rows.length)}. The log has all.
				</p>
			)}
		</>
	);
}
