// SPDX-License-Identifier: MPL-2.0
import { PlanCounts } from "../../changes/plan_counts.tsx";
import { StatusMark } from "../../components/status_mark.tsx";
import { PlainTable } from "../../components/table.tsx";
import { counted } from "../../core/format.ts";
import type { Resource } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { runTitle } from "../../core/run_title.ts";
import { store } from "../../core/store.ts";
import { type Outcome, outcomesOf } from "./event_words.ts";

type Props = { readonly org: string; readonly event: Resource };

function Subject({ org, outcome }: { readonly org: string; readonly outcome: Outcome }) {
	const href =
		outcome.type === "workspaces"
			? pathTo("/app/:org/workspaces/:ws", { org, ws: outcome.name })
			: `${pathTo("/app/:org/settings/policy-sets", { org })}?id=${encodeURIComponent(outcome.id)}`;
	return (
		<>
			<a href={href}>{outcome.name}</a>
			{outcome.type === "policy-sets" && <span class="muted"> policy set</span>}
		</>
	);
}

// The run of the outcome, or why there is none.
function Result({ org, outcome }: { readonly org: string; readonly outcome: Outcome }) {
	const run = store.get({ type: "runs", id: outcome.run });
	if (!outcome.run) {
		return <span class="muted">{outcome.sentence}</span>;
	}
	const href = pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: outcome.name, run: outcome.run });
	return (
		<>
			{run && <StatusMark run={run} />} <a href={href}>{run ? runTitle(run) : outcome.run}</a> <PlanCounts plan={store.one(run, "plan")} />
			<div class="muted">{outcome.sentence}</div>
		</>
	);
}

// What the event did in each workspace and policy set. Why no run started is as important as why one did.
export function Outcomes({ org, event }: Props) {
	const outcomes = outcomesOf(event);
	const runs = outcomes.filter(({ run }) => run).length;
	const sets = outcomes.filter(({ type }) => type === "policy-sets").length;
	return (
		<section aria-labelledby="outcomes">
			<h2 id="outcomes">Workspaces and policy sets</h2>
			{outcomes.length === 0 ? (
				<p class="muted">No workspace and no policy set that you may see takes part in this event.</p>
			) : (
				<>
					<p>
						{counted(outcomes.length - sets, "workspace")}, {sets > 0 && `${counted(sets, "policy set")}, `}
						{counted(runs, "run")}
					</p>
					<PlainTable
						caption="Workspaces and policy sets"
						columns={[
							{ key: "name", head: "Name", cell: (outcome) => <Subject org={org} outcome={outcome} /> },
							{ key: "result", head: "Result", cell: (outcome) => <Result org={org} outcome={outcome} /> },
						]}
						rows={outcomes}
						keyOf={(outcome) => outcome.id}
						class="stack"
					/>
				</>
			)}
		</section>
	);
}
