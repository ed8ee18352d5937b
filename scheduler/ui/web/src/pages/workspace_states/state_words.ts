// SPDX-License-Identifier: MPL-2.0

import { type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";

// authorOf: who wrote the state, or started the run that wrote it.
export function authorOf(state: Resource): string {
	const by = store.one(state, "created-by") ?? store.one(store.one(state, "run"), "created-by");
	return text(by, "username") || text(by, "name");
}

// detachedReason: why a state could not become the current one. The run's event names the state and the reason.
export function detachedReason(state: Resource, events: readonly Resource[]): string {
	const mark = `(${state.id}): `;
	for (const event of events) {
		const description = text(event, "description");
		const at = description.indexOf(mark);
		if (text(event, "action") === "state-detached" && at >= 0) {
			return description.slice(at + mark.length);
		}
	}
	return "";
}
