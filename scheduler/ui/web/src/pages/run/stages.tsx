// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { Fold } from "../../components/fold.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { Elapsed, TimeAgo } from "../../components/time_ago.tsx";
import { moneyDelta } from "../../core/format.ts";
import { linkOf, linksOf, type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { Log } from "../../log/log.tsx";
import { PlanChanges } from "./changes/plan_changes.tsx";
import type { RunView } from "./run.tsx";
import { type Parts, type Stage, stageList, stateTones } from "./stage_list.ts";

function partsOf(view: RunView): Parts {
	const staged = (name: string) => view.taskStages.find((item) => text(item, "stage") === name);
	return {
		plan: store.one(view.run, "plan"),
		apply: store.one(view.run, "apply"),
		cost: store.one(view.run, "cost-estimate"),
		sentinel: view.policyChecks[0],
		pre_plan: staged("pre_plan"),
		post_plan: staged("post_plan"),
		pre_apply: staged("pre_apply"),
		post_apply: staged("post_apply"),
	};
}

function TaskResults({ stage }: { readonly stage: Resource | undefined }) {
	return (
		<ul class="results">
			{linksOf(stage, "task-results").map((link) => {
				const result = store.get(link);
				return (
					<li key={link.id}>
						{text(result, "task-name")} ({text(result, "workspace-task-enforcement-level")}): {text(result, "status")}{" "}
						{text(result, "message")}
					</li>
				);
			})}
		</ul>
	);
}

function CostSummary({ estimate }: { readonly estimate: Resource | undefined }) {
	return text(estimate, "status") === "finished" ? (
		<p>
			${text(estimate, "prior-monthly-cost")} → ${text(estimate, "proposed-monthly-cost")} a month (
			{moneyDelta(text(estimate, "delta-monthly-cost"))})
		</p>
	) : (
		<p>{text(estimate, "error-message") || "No estimate."}</p>
	);
}

function Confirmation({ run }: { readonly run: Resource }) {
	const by = store.one(run, "confirmed-by");
	return by && linkOf(run, "confirmed-by") ? <p>Confirmed by {text(by, "username")}.</p> : <p>Applied without a person's confirmation.</p>;
}

// What a stage shows, by its name. Stages without a row show their state alone.
const contents: Readonly<Record<string, (view: RunView, parts: Parts) => ComponentChildren>> = {
	plan: (view, parts) => (
		<>
			{parts.plan && <PlanChanges plan={parts.plan} />}
			{parts.plan && <Log operation={parts.plan} kind="plan" reload={view.reload} />}
		</>
	),
	apply: (view, parts) => parts.apply && <Log operation={parts.apply} kind="apply" reload={view.reload} />,
	cost: (_, parts) => <CostSummary estimate={parts.cost} />,
	confirm: (view) => <Confirmation run={view.run} />,
	pre_plan: (_, parts) => <TaskResults stage={parts.pre_plan} />,
	post_plan: (_, parts) => <TaskResults stage={parts.post_plan} />,
	pre_apply: (_, parts) => <TaskResults stage={parts.pre_apply} />,
	post_apply: (_, parts) => <TaskResults stage={parts.post_apply} />,
};

function StageSummary({ stage }: { readonly stage: Stage }) {
	return (
		<>
			<Mark tone={stateTones[stage.state]}>{stage.word}</Mark> <span class="stage-state">{stage.state}</span>
			{stage.started && (
				<span class="muted">
					<TimeAgo time={stage.started} /> · <Elapsed since={stage.started} until={stage.ended} />
				</span>
			)}
		</>
	);
}

// Open while the stage's work runs or after it failed, and closed once it has passed.
export function Stages({ view }: { readonly view: RunView }) {
	const parts = partsOf(view);
	return (
		<section class="stages" aria-label="Stages">
			{stageList(view.run, parts).map((stage) => {
				const content = contents[stage.name];
				return (
					<Fold
						key={stage.name}
						id={stage.name}
						class="stage"
						open={stage.state === "running" || stage.state === "failed"}
						summary={<StageSummary stage={stage} />}
					>
						{() => (content && stage.state !== "not started" ? content(view, parts) : <p class="muted">Nothing to show.</p>)}
					</Fold>
				);
			})}
		</section>
	);
}
