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

const subjects: Readonly<Record<Outcome["type"], { readonly word: string; readonly href: (org: string, outcome: Outcome) => string }>> = {
	workspaces: { word: "", href: (org, { name }) => pathTo("/app/:org/workspaces/:ws", { org, ws: name }) },
	"policy-sets": {
		word: "policy set",
		href: (org, { id }) => `${pathTo("/app/:org/settings/policy-sets", { org })}?id=${encodeURIComponent(id)}`,
	},
	"registry-modules": {
		word: "tests of the module",
		href: (org, { id }) => pathTo("/app/:org/modules/:module/tests", { org, module: id }),
	},
};

function Subject({ org, outcome }: { readonly org: string; readonly outcome: Outcome }) {
	const { word, href } = subjects[outcome.type];
	return (
		<>
			<a href={href(org, outcome)}>{outcome.name}</a>
			{word && <span class="muted"> {word}</span>}
		</>
	);
}

function pathOfRun(org: string, { type, id, name, run }: Outcome): string {
	return type === "registry-modules"
		? `${pathTo("/app/:org/modules/:module/tests", { org, module: id })}?run=${encodeURIComponent(run)}`
		: pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: name, run });
}

// The run of the outcome, or why there is none.
function Result({ org, outcome }: { readonly org: string; readonly outcome: Outcome }) {
	const run = store.get({ type: "runs", id: outcome.run });
	if (!outcome.run) {
		return <span class="muted">{outcome.sentence}</span>;
	}
	return (
		<>
			{run && <StatusMark run={run} />} <a href={pathOfRun(org, outcome)}>{run ? runTitle(run) : outcome.run}</a>{" "}
			<PlanCounts plan={store.one(run, "plan")} />
			<div class="muted">{outcome.sentence}</div>
		</>
	);
}

// What the event did in each workspace and policy set. Why no run started is as important as why one did.
export function Outcomes({ org, event }: Props) {
	const outcomes = outcomesOf(event);
	const runs = outcomes.filter(({ run }) => run).length;
	const workspaces = outcomes.filter(({ type }) => type === "workspaces").length;
	const sets = outcomes.filter(({ type }) => type === "policy-sets").length;
	return (
		<section aria-labelledby="outcomes">
			<h2 id="outcomes">Workspaces and policy sets</h2>
			{outcomes.length === 0 ? (
				<p class="muted">No workspace and no policy set that you may see takes part in this event.</p>
			) : (
				<>
					<p>
						{counted(workspaces, "workspace")}, {sets > 0 && `${counted(sets, "policy set")}, `}
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
