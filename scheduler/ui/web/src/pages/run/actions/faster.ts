// SPDX-License-Identifier: MPL-2.0
// Who acted on the run before me.

import { ago, timeOf } from "../../../core/format.ts";
import { type Resource, text } from "../../../core/resource.ts";

const words: Readonly<Record<string, string>> = {
	confirmed: "confirmed",
	discarded: "discarded",
	canceled: "canceled",
	"force-canceled": "force-canceled",
	overridden: "overridden",
	"force-executed": "moved to the front",
};

// fasterText: "confirmed by ada 3 s ago", from the newest action of a person, or "". `who` gives the name of an event's actor.
export function fasterText(events: readonly Resource[], who: (event: Resource) => string, now: number): string {
	const event = events.filter((item) => words[text(item, "action")] !== undefined && who(item) !== "").at(-1);
	const at = timeOf(event?.attributes["created-at"]);
	return event && at !== undefined ? `${words[text(event, "action")]} by ${who(event)} ${ago(at, now)}` : "";
}
