// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { Fold } from "../../../components/fold.tsx";
import { Mark } from "../../../components/status_mark.tsx";
import { Elapsed, TimeAgo } from "../../../components/time_ago.tsx";
import { duration, timeOf } from "../../../core/format.ts";
import { text } from "../../../core/resource.ts";
import { queryNow } from "../../../core/router.ts";
import { isFinal } from "../../../core/status.ts";
import { Actions } from "../actions/actions.tsx";
import type { RunView } from "../view.ts";
import { ApplyContent } from "./apply.tsx";
import { ConfirmContent } from "./confirm.tsx";
import { CostContent } from "./cost.tsx";
import { FetchContent } from "./fetch.tsx";
import { MomentLine } from "./moments.tsx";
import { PlanContent } from "./plan.tsx";
import { OpaContent, SentinelContent } from "./policies.tsx";
import { RawEvents } from "./raw_events.tsx";
import { SplitBar } from "./split_bar.tsx";
import { type Stage, stageList, stateLooks } from "./stage_list.ts";
import { TaskResults } from "./tasks.tsx";
import { interleave } from "./timeline.ts";
import { Waterfall } from "./waterfall.tsx";

type Render = (view: RunView, stage: Stage) => ComponentChildren;

const tasks: Render = (view, stage) => <TaskResults view={view} results={view.parts.tasks[stage.name] ?? []} />;

// The run's buttons, in a stage that waits for an override.
const overridable = (view: RunView, stage: Stage) => stage.state === "person" && !view.reader && <Actions view={view} />;

// The content of each stage, by its name. A stage without a row has only its line.
const contents: Readonly<Record<string, Render>> = {
	fetch: (view, stage) => <FetchContent view={view} stage={stage} />,
	pre_plan: tasks,
	post_plan: tasks,
	pre_apply: tasks,
	post_apply: tasks,
	plan: (view, stage) => view.parts.plan && <PlanContent view={view} plan={view.parts.plan} stage={stage} />,
	apply: (view, stage) => view.parts.apply && <ApplyContent view={view} apply={view.parts.apply} stage={stage} />,
	opa: (view, stage) =>
		view.parts.opa && (
			<>
				<OpaContent evaluation={view.parts.opa} />
				{overridable(view, stage)}
			</>
		),
	sentinel: (view, stage) =>
		view.parts.sentinel && (
			<>
				<SentinelContent check={view.parts.sentinel} />
				{overridable(view, stage)}
			</>
		),
	cost: (view) => view.parts.cost && <CostContent estimate={view.parts.cost} />,
	confirm: (view, stage) => <ConfirmContent view={view} stage={stage} />,
};

// Fragments that name a part of the plan's changes (changes/items.ts).
const placesOfChanges = ["change", "drift", "deferred", "output", "check"];

const opened = new Set(["running", "person", "failed"]);
const empty = new Set(["waiting", "not started", "skipped"]);

function StageSummary({ stage }: { readonly stage: Stage }) {
	const wait = (timeOf(stage.started) ?? 0) - (timeOf(stage.since) ?? 0);
	return (
		<span class="stage-line">
			<Mark tone={stateLooks[stage.state].tone} icon={stateLooks[stage.state].icon}>
				<strong>{stage.word}</strong>
			</Mark>
			<span class="stage-state">
				{stage.label}
				{stage.note && `: ${stage.note}`}
			</span>
			{stage.started && (
				<span class="muted stage-times">
					<TimeAgo time={stage.started} /> · <Elapsed since={stage.started} until={stage.ended} />
					{stage.since && wait >= 1000 && ` · waited ${duration(wait)}`}
				</span>
			)}
		</span>
	);
}

function StageSection({ view, stage }: { readonly view: RunView; readonly stage: Stage }) {
	const content = contents[stage.name];
	if (!content || empty.has(stage.state)) {
		return (
			<div id={stage.name} class="stage flat">
				<StageSummary stage={stage} />
			</div>
		);
	}
	return (
		<Fold
			id={stage.name}
			also={stage.name === "plan" ? placesOfChanges : []}
			class={`stage ${stage.state}`}
			open={view.reader || opened.has(stage.state)}
			summary={<StageSummary stage={stage} />}
		>
			{() => content(view, stage)}
		</Fold>
	);
}

const renderings = [
	["", "Stages"],
	["waterfall", "Waterfall"],
	["events", "Raw events"],
	["reader", "Reader view"],
] as const;

function Renderings({ shown }: { readonly shown: string }) {
	return (
		<nav class="renderings" aria-label="Renderings of the run">
			{renderings.map(([key, word]) => (
				<a key={key} class="chip" href={location.pathname + (key && `?view=${key}`)} aria-current={shown === key ? "true" : undefined}>
					{word}
				</a>
			))}
		</nav>
	);
}

// The stages of the run in their order, with the events between them.
export function Stages({ view }: { readonly view: RunView }) {
	const list = stageList(view.run, view.parts);
	const ended = isFinal(text(view.run, "status"));
	const shown = queryNow().get("view") ?? "";
	return (
		<section class="stages" aria-labelledby="stages">
			<div class="page-head">
				<h2 id="stages">Stages</h2>
				<Renderings shown={shown} />
			</div>
			<SplitBar list={list} ended={ended} />
			{shown === "waterfall" ? (
				<Waterfall list={list} ended={ended} />
			) : shown === "events" ? (
				<RawEvents run={view.run} events={view.events} />
			) : (
				interleave(list, view.events).map((item) =>
					"stage" in item ? (
						<StageSection key={item.stage.name} view={view} stage={item.stage} />
					) : (
						<MomentLine key={item.moment.event.id} moment={item.moment} />
					),
				)
			)}
		</section>
	);
}
