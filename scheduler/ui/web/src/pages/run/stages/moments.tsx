// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../../components/time_ago.tsx";
import { text } from "../../../core/resource.ts";
import { store } from "../../../core/store.ts";
import { Markdown } from "../../../markdown/markdown.tsx";
import { actorOf } from "../view.ts";
import type { Moment } from "./timeline.ts";

// An event between two stages, with its person and its comment.
export function MomentLine({ moment }: { readonly moment: Moment }) {
	const { event } = moment;
	const comment = text(store.one(event, "comment"), "body");
	const action = text(event, "action");
	const who = actorOf(event);
	return (
		<div class="moment">
			<p>
				<span class="moment-icon" aria-hidden="true">
					{action === "warned" ? "!" : "·"}
				</span>{" "}
				{who && <strong>{who}</strong>} {momentWord(action)}
				{text(event, "description") && <span class={action === "warned" ? "wait" : ""}> {text(event, "description")}</span>}{" "}
				<span class="muted">
					<TimeAgo time={event.attributes["created-at"]} />
				</span>
			</p>
			{comment && <Markdown text={comment} />}
		</div>
	);
}

// The actions of run events in words.

const words: Readonly<Record<string, string>> = {
	created: "queued the run",
	turn: "The run had its turn",
	started: "Work started",
	passed: "Work finished",
	warned: "Warning:",
	failed: "Failed:",
	"soft-failed": "Failed, can be overridden:",
	errored: "Error:",
	stopped: "Work ended after the cancel",
	lost: "The worker lost contact.",
	"timed-out": "The time ran out.",
	confirmed: "confirmed the apply",
	overridden: "overrode the failed policies",
	discarded: "discarded the run",
	canceled: "canceled the run",
	"force-canceled": "force-canceled the run",
	"force-executed": "moved the run to the front of the queue",
	commented: "commented",
	stale: "The saved plan is out of date: another run has changed the state.",
	"result-refused": "A late result was refused:",
};

export function momentWord(action: string): string {
	return words[action] ?? (action.startsWith("waiting") ? "Waited:" : `${action.replaceAll(/[-_]/g, " ")}:`);
}
