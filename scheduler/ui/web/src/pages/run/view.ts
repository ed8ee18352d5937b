// SPDX-License-Identifier: MPL-2.0
// What the run page shows: the run and the objects that belong to it.

import { linkOf, type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import type { Changes } from "./changes_summary.ts";
import type { Parts } from "./stages/stage_list.ts";

export type RunView = {
	readonly run: Resource;
	readonly workspace: Resource | undefined;
	readonly parts: Parts;
	readonly events: readonly Resource[];
	readonly changes: Changes; // the list of changes of its plan
	readonly reader: boolean; // everything is open but logs, and nothing can be done
	readonly reload: () => Promise<void>;
	readonly act: (key: string) => void; // opens the dialog of an action
};

// placeOf: the parameters of addresses of the run's workspace.
export function placeOf(view: RunView): { readonly org: string; readonly ws: string } {
	return { org: linkOf(view.workspace, "organization")?.id ?? "", ws: text(view.workspace, "name") };
}

export const includes = [
	"plan",
	"apply",
	"created_by",
	"confirmed_by",
	"canceled_by",
	"workspace",
	"cost_estimate",
	"configuration_version.ingress_attributes",
	"comments.user",
	"task_stages.task_results",
	"task_stages.policy_evaluations",
	"policy_checks",
	"run_events.actor",
].join(",");

export function partsOf(run: Resource): Parts {
	const taskStages = store.many(run, "task-stages");
	const stageOf = (name: string) => taskStages.find((item) => text(item, "stage") === name);
	const postPlan = stageOf("post_plan");
	return {
		plan: store.one(run, "plan"),
		apply: store.one(run, "apply"),
		cost: store.one(run, "cost-estimate"),
		sentinel: store.many(run, "policy-checks")[0],
		opa: store.many(postPlan, "policy-evaluations")[0],
		tasks: Object.fromEntries(
			["pre_plan", "post_plan", "pre_apply", "post_apply"].map((name) => [name, store.many(stageOf(name), "task-results")]),
		),
		postPlan,
	};
}

export function actorOf(event: Resource | undefined): string {
	return text(store.one(event, "actor"), "username");
}

// lastEvent: the newest event with one of the actions.
export function lastEvent(view: RunView, actions: readonly string[]): Resource | undefined {
	return view.events.filter((event) => actions.includes(text(event, "action"))).at(-1);
}

// commentOf: the comment that a person made with the event.
export function commentOf(view: RunView, event: Resource | undefined): string {
	const own = store.one(event, "comment");
	if (own || !event) {
		return text(own, "body");
	}
	const at = text(event, "created-at");
	const with_ = view.events.find((item) => text(item, "action") === "commented" && text(item, "created-at") === at);
	return with_ && linkOf(with_, "comment") ? text(store.one(with_, "comment"), "body") : "";
}
