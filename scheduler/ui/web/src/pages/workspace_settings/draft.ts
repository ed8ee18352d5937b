// SPDX-License-Identifier: MPL-2.0
// The edited attributes of an object. The others follow the server.

import { useState } from "preact/hooks";
import type { Resource } from "../../core/resource.ts";

export type Attributes = Readonly<Record<string, unknown>>;

// changesOf: the edited attributes that differ from the object's.
export function changesOf(edited: Attributes, resource: Resource): Attributes {
	const same = (name: string, value: unknown) => JSON.stringify(resource.attributes[name] ?? "") === JSON.stringify(value ?? "");
	return Object.fromEntries(Object.entries(edited).filter(([name, value]) => !same(name, value)));
}

export type Draft = {
	readonly text: (name: string) => string;
	readonly flag: (name: string) => boolean;
	readonly set: (name: string, value: unknown) => void;
	readonly changes: Attributes;
	readonly isDirty: boolean;
	readonly clear: () => void;
};

export function useDraft(resource: Resource): Draft {
	const [edited, setEdited] = useState<Attributes>({});
	const shownOf = (name: string) => (name in edited ? edited[name] : resource.attributes[name]);
	const changes = changesOf(edited, resource);
	return {
		text: (name) => {
			const value = shownOf(name);
			return typeof value === "string" ? value : "";
		},
		flag: (name) => shownOf(name) === true,
		set: (name, value) => setEdited((before) => ({ ...before, [name]: value })),
		changes,
		isDirty: Object.keys(changes).length > 0,
		clear: () => setEdited({}),
	};
}
