// SPDX-License-Identifier: MPL-2.0
// What a settings page says about its kind of object. The pages have one table each.

import type { ComponentChildren } from "preact";
import type { Column } from "../components/table.tsx";
import { type Resource, text } from "../core/resource.ts";
import type { FieldRow, Options, Values } from "./fields.ts";

export type ObjectKind = {
	readonly type: string; // in requests
	readonly one: string; // "run task"
	readonly many: string; // "Run tasks"
	readonly empty: string; // what the empty list means, and what to do
	readonly columns: readonly Column[]; // after the name
	readonly fields: readonly FieldRow[]; // none: it can't be changed
	readonly item: (id: string) => string; // the path of an object
	readonly name: (item: Resource) => string;
	readonly head?: string; // of the column with the name; Name
	readonly add?: string; // the words of buttons: New ..., Create, Save
	readonly create?: string;
	readonly save?: string;
	readonly relationships?: object; // of a new one
	readonly missing?: (values: Values) => string | undefined; // why it can't be saved yet
	readonly opens?: boolean; // an object has a page of its own (?id=)
	readonly path?: (item: Resource) => string; // of another page to which its name leads
	readonly secret?: string; // an attribute that only the answer to the creation has
	readonly kept?: string; // a relation that the API empties if an update does not send it
	readonly remove?: string; // the word; Delete
	readonly confirmRemove?: string; // the same in the dialog
	readonly removes: string; // what follows from it
	readonly typed?: boolean; // the name must be typed before
	readonly keeps?: (item: Resource) => string | undefined; // why an object can't be removed
	readonly actions?: (item: Resource, reload: () => Promise<void>) => ComponentChildren;
};

// optionWord: the word of a choice.
export function optionWord(options: Options, value: string): string {
	return options.find(([key]) => key === value)?.[1] ?? value;
}

// wordOf: the same up to its colon, for tables.
export function wordOf(options: Options, value: string): string {
	return options.find(([key]) => key === value)?.[1].split(":")[0] ?? value;
}

// namesOf: the objects as options, by their names.
export function namesOf(items: readonly Resource[]): Options {
	return items.map((item) => [item.id, text(item, "name")] as const);
}

export function titleCase(word: string): string {
	return word.charAt(0).toUpperCase() + word.slice(1);
}
