// SPDX-License-Identifier: MPL-2.0
import type { Resource } from "../core/resource.ts";
import type { Column } from "./table.tsx";

type Props = {
	readonly rows: readonly Resource[]; // of this page
	readonly isChosen: (id: string) => boolean;
	readonly nameOf: (row: Resource) => string;
	readonly onToggle: (rows: readonly Resource[], on: boolean) => void;
};

// A column with a box for each row, and one for all rows of the page.
export function selectColumn({ rows, isChosen, nameOf, onToggle }: Props): Column {
	return {
		key: "select",
		class: "select",
		head: (
			<input
				type="checkbox"
				aria-label="Select all on this page"
				checked={rows.length > 0 && rows.every(({ id }) => isChosen(id))}
				onChange={(event) => onToggle(rows, event.currentTarget.checked)}
			/>
		),
		cell: (row) => (
			<input
				type="checkbox"
				class="above-row"
				aria-label={`Select ${nameOf(row)}`}
				checked={isChosen(row.id)}
				onChange={(event) => onToggle([row], event.currentTarget.checked)}
			/>
		),
	};
}
