// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../components/fold.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { absolute, counted, timeOf } from "../../core/format.ts";
import { timesInUtc } from "../../core/preferences.ts";
import { flag, linkOf, may, type Resource } from "../../core/resource.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { barsOf, checksText, driftText, historyText, outcomeOf } from "./health_words.ts";

type LinkProps = { readonly view: WorkspaceView; readonly result: Resource };

// The log may show secrets: who manages the workspace reads it. An assessment that could not begin has none.
export function LogLink({ view, result }: LinkProps) {
	const href = result.links?.["log-output"];
	if (!href || !linkOf(result, "plan") || !may(view.workspace, "can-update")) {
		return null;
	}
	const at = timeOf(result.attributes["created-at"]) ?? 0;
	return (
		<a href={href} target="_blank" rel="noreferrer">
			Log<span class="sr-only"> of the assessment at {absolute(at, timesInUtc())}</span>
		</a>
	);
}

const columnsOf = (view: WorkspaceView): readonly Column[] => [
	{
		key: "time",
		head: "Assessed",
		cell: (result) => <TimeAgo time={result.attributes["created-at"]} />,
	},
	{
		key: "outcome",
		head: "Result",
		cell: (result) => {
			const { tone, word } = outcomeOf(result);
			return <Mark tone={tone}>{word}</Mark>;
		},
	},
	{ key: "drift", head: "Drift", cell: (result) => (flag(result, "succeeded") ? driftText(result) : "–") },
	{ key: "checks", head: "Checks", cell: (result) => (flag(result, "succeeded") ? checksText(result) : "–") },
	{ key: "log", head: "Log", cell: (result) => <LogLink view={view} result={result} /> },
];

// The last results as a strip of bars, whose heights tell the outcomes, too, and all that are kept as a table.
export function History({ view, results }: { readonly view: WorkspaceView; readonly results: readonly Resource[] }) {
	const bars = barsOf(results);
	const words = historyText(bars);
	return (
		<section aria-labelledby="history">
			<h2 id="history">History</h2>
			<p>
				<span class="bars" role="img" aria-label={words} title={words}>
					{bars.map((result) => (
						<span key={result.id} class={outcomeOf(result).tone} />
					))}
				</span>
			</p>
			<Fold summary={counted(results.length, "assessment")} open={false}>
				{() => <Table caption="Assessments" columns={columnsOf(view)} rows={results} stacked />}
			</Fold>
		</section>
	);
}
