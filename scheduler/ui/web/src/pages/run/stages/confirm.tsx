// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../../components/time_ago.tsx";
import { can, flag, linkOf, may, text } from "../../../core/resource.ts";
import { store } from "../../../core/store.ts";
import { Markdown } from "../../../markdown/markdown.tsx";
import { Actions } from "../actions/actions.tsx";
import { Destroyed } from "../destroyed.tsx";
import { Counts } from "../header.tsx";
import { actorOf, commentOf, lastEvent, type RunView } from "../view.ts";
import type { Stage } from "./stage_list.ts";

function Open({ view, stage }: { readonly view: RunView; readonly stage: Stage }) {
	const { changes } = view;
	return (
		<>
			<p>
				{may(view.run, "can-apply")
					? "You may confirm this run."
					: "You may not confirm this run: it needs a person who may apply runs of this workspace."}{" "}
				It waits since <TimeAgo time={stage.asked} />.
			</p>
			<p>
				<Counts plan={view.parts.plan} changes={changes.item} words /> <a href="#plan">All changes</a>
			</p>
			<Destroyed plan={view.parts.plan} changes={changes} />
			{!view.reader && <Actions view={view} />}
		</>
	);
}

export function ConfirmContent({ view, stage }: { readonly view: RunView; readonly stage: Stage }) {
	const { run } = view;
	if (can(run, "is-confirmable")) {
		return <Open view={view} stage={stage} />;
	}
	if (stage.state === "skipped" || (flag(run, "auto-apply") && !linkOf(run, "confirmed-by"))) {
		return <p>Auto-apply is on: the run applies without a person's confirmation.</p>;
	}
	const event = lastEvent(view, ["confirmed", "discarded", "canceled"]);
	const who = actorOf(event) || text(store.one(run, "confirmed-by"), "username");
	const comment = commentOf(view, event);
	return event ? (
		<>
			<p>
				{text(event, "action") === "confirmed" ? "Confirmed" : text(event, "action") === "discarded" ? "Discarded" : "Canceled"}
				{who && ` by ${who}`} <TimeAgo time={event.attributes["created-at"]} />.
			</p>
			{comment && <Markdown text={comment} />}
		</>
	) : (
		<p class="muted">Nobody has decided yet.</p>
	);
}
