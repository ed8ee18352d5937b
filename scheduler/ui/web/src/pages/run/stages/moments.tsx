// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../../components/time_ago.tsx";
import { text } from "../../../core/resource.ts";
import { store } from "../../../core/store.ts";
import { Markdown } from "../../../markdown/markdown.tsx";
import { actorOf } from "../view.ts";
import { momentWord } from "./moment_words.ts";
import type { Moment } from "./timeline.ts";

// What a person or the scheduler did between two stages.
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
				{text(event, "description") && <span class={action === "warned" ? "wait-text" : ""}> {text(event, "description")}</span>}{" "}
				<span class="muted">
					<TimeAgo time={event.attributes["created-at"]} />
				</span>
			</p>
			{comment && <Markdown text={comment} />}
		</div>
	);
}
