// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { TimeAgo } from "../../components/time_ago.tsx";
import { flag, text } from "../../core/resource.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { SavedState } from "./stages/apply.tsx";
import { stageList } from "./stages/stage_list.ts";
import { actorOf, commentOf, lastEvent, type RunView } from "./view.ts";

const hints: Readonly<Record<string, string>> = {
	plan: "Nothing was changed. Fix the code or the variables, then queue a new plan.",
	apply: "A provider is missing or misconfigured, or an operation was refused. What was done stays, and the state has it.",
	fetch: "Nothing was changed. The configuration could not be fetched.",
	sentinel: "Nothing was changed. A hard-mandatory policy failed: this plan can't be applied.",
	opa: "Nothing was changed. A mandatory policy failed.",
	pre_plan: "Nothing was changed. A mandatory run task did not pass.",
	post_plan: "Nothing was changed. A mandatory run task did not pass.",
	pre_apply: "Nothing was changed. A mandatory run task did not pass.",
};

// Where the run failed, why, and what to do.
function Errored({ view }: { readonly view: RunView }) {
	const failed = stageList(view.run, view.parts).find((stage) => stage.state === "failed");
	const error = text(view.run, "error");
	return (
		<div class="note failure">
			<p>
				<strong>{failed ? `${failed.word} failed.` : "The run failed."}</strong> {error}{" "}
				{failed && <a href={`#${failed.name}`}>Go to the error</a>}
			</p>
			{failed && hints[failed.name] && <p>{hints[failed.name]}</p>}
		</div>
	);
}

// What a run that was stopped has left behind.
function remained(view: RunView): ComponentChildren {
	const { apply } = view.parts;
	const status = text(apply, "status");
	if (status === "finished") {
		return "The apply had succeeded before. All its changes stay, and the state has them.";
	}
	if (apply && (status === "canceled" || status === "errored")) {
		return (
			<>
				{text(view.run, "status-label")}. What was done stays. <SavedState view={view} apply={apply} />
			</>
		);
	}
	return "Nothing was changed.";
}

function Stopped({ view }: { readonly view: RunView }) {
	const discarded = text(view.run, "status") === "discarded";
	const event = lastEvent(view, ["discarded", "force-canceled", "canceled"]);
	const by = actorOf(event);
	const replaced = discarded && !by ? lastEvent(view, ["stale"]) : undefined;
	const comment = commentOf(view, event);
	const forced = text(event, "action") === "force-canceled";
	return (
		<div class="note neutral">
			<p>
				<strong>
					{discarded ? "Discarded" : forced ? "Force-canceled" : "Canceled"}
					{by && ` by ${by}`}
				</strong>{" "}
				<TimeAgo time={event?.attributes["created-at"]} />
				{replaced && ": another run has changed the state since the plan"}. {remained(view)}
			</p>
			{forced && <p>terraform was killed. Resources may exist that no state shows: check them before the next apply.</p>}
			{comment && <Markdown text={comment} />}
		</div>
	);
}

function WorkerLost({ view }: { readonly view: RunView }) {
	const event = lastEvent(view, ["lost"]);
	const { apply } = view.parts;
	return event ? (
		<div class="note wait">
			<p>
				<strong>The worker lost contact</strong> <TimeAgo time={event.attributes["created-at"]} />. {text(event, "description")}{" "}
				{apply && text(apply, "status") !== "pending" && <SavedState view={view} apply={apply} />}
			</p>
		</div>
	) : null;
}

const planOnly = "A plan-only run is never applied.";

function Finished({ view }: { readonly view: RunView }) {
	const changed = flag(view.run, "has-changes");
	return (
		<p class="note neutral">
			{!changed && <strong>No changes. Infrastructure matches the configuration.</strong>}{" "}
			{changed && <strong>The plan is finished.</strong>} {flag(view.run, "plan-only") && planOnly}
		</p>
	);
}

const stopped = new Set(["discarded", "canceled", "force_canceled"]);

// What is special about the state of the run, in a sentence or two.
export function Notes({ view }: { readonly view: RunView }) {
	const status = text(view.run, "status");
	return (
		<>
			<WorkerLost view={view} />
			{(status === "errored" || status === "policy_soft_failed") && <Errored view={view} />}
			{stopped.has(status) && <Stopped view={view} />}
			{status === "planned_and_finished" && <Finished view={view} />}
			{status === "planned_and_saved" && (
				<p class="note wait">The plan is saved and does not hold the workspace. It can be applied until another run changes the state.</p>
			)}
		</>
	);
}
