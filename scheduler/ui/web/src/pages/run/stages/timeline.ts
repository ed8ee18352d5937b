// SPDX-License-Identifier: MPL-2.0
// What happened between the stages: events of persons, warnings and comments, each before the stage that began after it.

import { linkOf, type Resource, text } from "../../../core/resource.ts";
import type { Stage } from "./stage_list.ts";

export type Moment = { readonly event: Resource; readonly at: string };
export type Item = { readonly stage: Stage } | { readonly moment: Moment };

// Events that the stages show already, unless a person caused them.
const ofStages = new Set(["turn", "started", "passed", "failed", "soft-failed", "errored", "stopped"]);

export function isMoment(event: Resource): boolean {
	return linkOf(event, "actor") !== undefined || !ofStages.has(text(event, "action"));
}

const begin = (stage: Stage) => stage.since ?? stage.started ?? stage.asked;

// interleave keeps the order of the stages. A stage that has not begun comes after all that happened.
export function interleave(stages: readonly Stage[], events: readonly Resource[]): readonly Item[] {
	const moments = events
		.filter(isMoment)
		.map((event) => ({ event, at: text(event, "created-at") }))
		.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
	const items: Item[] = [];
	let next = 0;
	for (const stage of stages) {
		const start = begin(stage);
		while (next < moments.length && (moments[next]?.at ?? "") <= (start ?? "9999")) {
			items.push({ moment: moments[next++] as Moment });
		}
		items.push({ stage });
	}
	return [...items, ...moments.slice(next).map((moment) => ({ moment }))];
}
