// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { TimeAgo } from "../../components/time_ago.tsx";
import { can, flag, object, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { SavedState } from "./stages/apply.tsx";
import { stageList } from "./stages/stage_list.ts";
import { actorOf, commentOf, lastEvent, placeOf, type RunView } from "./view.ts";

const hints: Readonly<Record<string, string>> = {
	plan: "Nothing was changed. Fix the code or the variables, then queue a new plan.",
	apply:
		"Common causes: a provider is missing or misconfigured, or it refused an operation. Completed changes remain, and the state has them.",
	fetch: "Nothing was changed. The configuration could not be fetched.",
	sentinel: "Nothing was changed. A hard-mandatory policy failed: this plan can't be applied.",
	opa: "Nothing was changed. A mandatory policy failed.",
	pre_plan: "Nothing was changed. A mandatory run task did not pass.",
	post_plan: "Nothing was changed. A mandatory run task did not pass.",
	pre_apply: "Nothing was changed. A mandatory run task did not pass.",
};

// The stage that failed, its error, and the next step.
function Errored({ view }: { readonly view: RunView }) {
	const failed = stageList(view.run, view.parts).find((stage) => stage.state === "failed");
	const error = text(view.run, "error");
	if (error && error === text(lastEvent(view, ["lost"]), "description")) {
		return null; // WorkerLost says it
	}
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

// The changes that remain after a canceled or discarded run.
function remained(view: RunView): ComponentChildren {
	const { apply } = view.parts;
	const status = text(apply, "status");
	if (status === "finished") {
		return "The apply had succeeded before. All its changes remain, and the state has them.";
	}
	if (apply && (status === "canceled" || status === "errored")) {
		return (
			<>
				Completed changes remain. <SavedState view={view} apply={apply} />
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

// The lost apply holds the workspace, so that no other run works with a state that is not the last one.
function Held({ view }: { readonly view: RunView }) {
	const params = placeOf(view);
	return object(view.workspace, "hold")["run-id"] === view.run.id ? (
		<p>
			<strong>The workspace is held</strong>: later runs wait, because the last state of this apply may still come.{" "}
			<a href={pathTo("/app/:org/workspaces/:ws/settings/locking", params)}>See the hold</a> before you unlock the workspace.
		</p>
	) : null;
}

function WorkerLost({ view }: { readonly view: RunView }) {
	const event = lastEvent(view, ["lost"]);
	const { apply } = view.parts;
	return event ? (
		<div class={`note ${text(view.run, "status") === "errored" ? "failure" : "wait"}`}>
			<p>
				<strong>The worker lost contact</strong> <TimeAgo time={event.attributes["created-at"]} />. {text(event, "description")}{" "}
				{apply && text(apply, "status") !== "pending" && <SavedState view={view} apply={apply} />}
			</p>
			<Held view={view} />
		</div>
	) : null;
}

const planOnly = "A plan-only run is never applied.";

const unchanged = "No changes. Infrastructure matches the configuration.";
const refreshed = "No changes outside of Terraform. The state matches the infrastructure.";

function Finished({ view }: { readonly view: RunView }) {
	const changed = flag(view.run, "has-changes");
	return (
		<p class="note neutral">
			{!changed && <strong>{flag(view.run, "refresh-only") ? refreshed : unchanged}</strong>}{" "}
			{changed && <strong>The plan is finished.</strong>} {flag(view.run, "plan-only") && planOnly}
		</p>
	);
}

const stopped = new Set(["discarded", "canceled", "force_canceled"]);

// Why the run is in its state, and what to do next.
export function Notes({ view }: { readonly view: RunView }) {
	const status = text(view.run, "status");
	return (
		<>
			<WorkerLost view={view} />
			{(status === "errored" || status === "policy_soft_failed") && <Errored view={view} />}
			{stopped.has(status) && <Stopped view={view} />}
			{status === "planned_and_finished" && <Finished view={view} />}
			{flag(view.run, "refresh-only") && can(view.run, "is-confirmable") && (
				<p class="note neutral">A refresh-only run changes no infrastructure. Its apply updates the state and the outputs.</p>
			)}
			{status === "planned_and_saved" && (
				<p class="note neutral">
					The plan is saved and does not hold the workspace. It can be applied until another run changes the state.
				</p>
			)}
		</>
	);
}
