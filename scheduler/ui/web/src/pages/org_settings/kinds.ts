// SPDX-License-Identifier: MPL-2.0
// What a settings page says about its kind of object. The pages have one table each.

import type { ComponentChildren } from "preact";
import type { Column } from "../../components/table.tsx";
import type { Resource } from "../../core/resource.ts";
import type { FieldRow } from "./fields.ts";

export type ObjectKind = {
	readonly type: string; // in requests
	readonly one: string; // "run task"
	readonly many: string; // "Run tasks"
	readonly empty: string; // what the empty list means, and what to do
	readonly columns: readonly Column[]; // after the name
	readonly fields: readonly FieldRow[]; // none: it can't be changed
	readonly item: (id: string) => string; // the path of an object
	readonly name: (item: Resource) => string;
	readonly opens?: boolean; // an object has a page of its own (?id=)
	readonly secret?: string; // an attribute that only the answer to the creation has
	readonly kept?: string; // a relation that the API empties if an update does not send it
	readonly remove?: string; // the word; Delete
	readonly removes: string; // what follows from it
	readonly actions?: (item: Resource, reload: () => Promise<void>) => ComponentChildren;
};

export function titleCase(word: string): string {
	return word.charAt(0).toUpperCase() + word.slice(1);
}
