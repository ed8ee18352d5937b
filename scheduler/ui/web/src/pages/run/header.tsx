// SPDX-License-Identifier: MPL-2.0
import { PlanCounts } from "../../changes/plan_counts.tsx";
import { Chip, StatusMark } from "../../components/status_mark.tsx";
import { Elapsed, TimeAgo } from "../../components/time_ago.tsx";
import { counted, moneyDelta } from "../../core/format.ts";
import { type Resource, text } from "../../core/resource.ts";
import { runTitle } from "../../core/run_title.ts";
import { isFinal, reachedAt } from "../../core/status.ts";
import { Actions } from "./actions/actions.tsx";
import { warningsOf } from "./stages/stage_list.ts";
import type { RunView } from "./view.ts";

// The time since the run reached its state.
function Since({ run }: { readonly run: Resource }) {
	const since = reachedAt(run) ?? run.attributes["created-at"];
	return isFinal(text(run, "status")) ? (
		<TimeAgo time={since} />
	) : (
		<span>
			for <Elapsed since={since} />
		</span>
	);
}

function Warnings({ view }: { readonly view: RunView }) {
	const warnings = warningsOf(view.parts);
	const [first] = warnings;
	return first ? (
		<a href={`#${first.stage}`} class="warning-link">
			<Chip tone="wait">
				<span aria-hidden="true">! </span>
				{warnings.length === 1 ? first.text : `${counted(warnings.length, "advisory check")} failed`}
			</Chip>
		</a>
	) : null;
}

export function Header({ view }: { readonly view: RunView }) {
	const { run, parts } = view;
	return (
		<header class="run-header">
			<div class="run-title">
				<div class="run-state">
					<StatusMark run={run} isLive /> <Since run={run} /> <PlanCounts plan={parts.plan} changes={view.changes.item} />
					{text(parts.cost, "status") === "finished" && (
						<a href="#cost" class="cost-delta">
							{moneyDelta(text(parts.cost, "delta-monthly-cost"), text(parts.cost, "currency"))} a month
						</a>
					)}
					<Warnings view={view} />
				</div>
				<h1 tabIndex={-1} title={runTitle(run)}>
					{runTitle(run)}
				</h1>
			</div>
			{!view.reader && <Actions view={view} main />}
		</header>
	);
}
