// SPDX-License-Identifier: MPL-2.0
// What the last assessment found: drift by resource and attribute, and checks with their messages.

import { useMemo } from "preact/hooks";
import { ChangeList, type Target } from "../../changes/change_list.tsx";
import { entriesOf, type Item, itemsOf } from "../../changes/items.ts";
import { useOpen } from "../../changes/plan_changes.tsx";
import { type CheckRow, summaryOf } from "../../changes/summary.ts";
import { Fact } from "../../components/fact.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linkOf, may, number, type Resource, text } from "../../core/resource.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { QueueButton } from "../workspace/frame_header.tsx";
import { LogLink } from "./health_history.tsx";
import { checksText, driftOf, driftText, outcomeOf, runMessage } from "./health_words.ts";

type Props = { readonly view: WorkspaceView; readonly result: Resource };

export function LastResult({ view, result }: Props) {
	const outcome = outcomeOf(result);
	const succeeded = flag(result, "succeeded");
	return (
		<section aria-labelledby="result">
			<h2 id="result">Last assessment</h2>
			<p role="status">
				<Mark tone={outcome.tone}>{outcome.word}</Mark>
			</p>
			<dl class="facts">
				<Fact word="Assessed">
					<TimeAgo time={result.attributes["created-at"]} />
				</Fact>
				{succeeded && <Fact word="Drift">{driftText(result)}</Fact>}
				{succeeded && <Fact word="Checks">{checksText(result)}</Fact>}
			</dl>
			<LogLink view={view} result={result} />
			{succeeded ? (
				<Found view={view} result={result} />
			) : (
				<p class="note failure">
					The assessment failed: <span class="as-written">{text(result, "error-msg")}</span>
				</p>
			)}
		</section>
	);
}

// The rows come from the plan of the assessment.
function Found({ view, result }: Props) {
	const plan = linkOf(result, "plan")?.id ?? "";
	const mayRead = may(view.workspace, "can-read-run");
	const changes = useDocument(mayRead && plan ? address(`/plans/${segment(plan)}/changes`) : undefined);
	if (!mayRead) {
		return <p class="muted">What the assessment found is shown to people who may read the runs of the workspace.</p>;
	}
	return (
		<Content of={changes}>
			{() =>
				changes.item ? (
					<Rows view={view} result={result} plan={plan} changes={changes.item} />
				) : (
					<p class="muted">The plan of the assessment is not kept any more.</p>
				)
			}
		</Content>
	);
}

type RowsProps = Props & { readonly plan: string; readonly changes: Resource };

function Rows({ view, result, plan, changes }: RowsProps) {
	const summary = useMemo(() => summaryOf(changes), [changes]);
	const { drift, rest } = useMemo(() => {
		const { counted, rest: others } = driftOf(summary);
		return { drift: itemsOf(counted), rest: itemsOf(others) };
	}, [summary]);
	const items = useMemo(() => [...drift, ...rest], [drift, rest]);
	const opened = useOpen(items, noShow, noMore);
	return (
		<>
			<h3>Drift</h3>
			{drift.length > 0 ? (
				<>
					<p>Something other than Terraform changed these resources, and a run would change them again.</p>
					<DriftList label="Drift" plan={plan} items={drift} {...opened} />
					<Answers view={view} total={number(result, "resources-drifted") ?? drift.length} items={drift} />
				</>
			) : (
				<p>No drift. The infrastructure matches the configuration.</p>
			)}
			{summary.truncated && <p class="note wait">The assessment found more than this list. The plan's JSON has all.</p>}
			{rest.length > 0 && (
				<>
					<h3>Differences that change nothing</h3>
					<p>Something other than Terraform changed these resources, and no run would undo it.</p>
					<DriftList label="Differences that change nothing" plan={plan} items={rest} {...opened} />
				</>
			)}
			<Checks rows={summary.checks} />
		</>
	);
}

const noShow = () => {};
const noMore = () => false;
const noGroups: ReadonlySet<string> = new Set();

type ListProps = {
	readonly label: string;
	readonly plan: string;
	readonly items: readonly Item[];
	readonly open: ReadonlySet<string>;
	readonly target: Target | undefined;
	readonly toggle: (item: Item) => void;
};

function DriftList({ label, plan, items, open, target, toggle }: ListProps) {
	const entries = useMemo(() => entriesOf(items, "class", noGroups).filter((entry) => entry.kind === "item"), [items]);
	return (
		<div class="changes">
			<ChangeList label={label} plan={plan} entries={entries} open={open} target={target} onToggle={toggle} onToggleGroup={noShow} />
		</div>
	);
}

type AnswersProps = { readonly view: WorkspaceView; readonly total: number; readonly items: readonly Item[] };

// The two answers to drift. Each opens the dialog Queue Plan, which says what follows.
function Answers({ view, total, items }: AnswersProps) {
	const addresses = items.map(({ row }) => row.address);
	return (
		<p class="actions">
			<QueueButton view={view} order={{ mode: "apply", message: runMessage("Restore", total, addresses) }}>
				Queue a run that restores the configuration
			</QueueButton>
			<QueueButton view={view} order={{ mode: "refresh", message: runMessage("Accept", total, addresses) }}>
				Queue a refresh-only run that accepts it
			</QueueButton>
		</p>
	);
}

// The marks of the statuses that a plan's list of checks has.
const checkMarks = {
	fail: ["failure", "Failed"],
	error: ["failure", "Errored"],
	unknown: ["muted", "Unknown"],
	pass: ["success", "Passed"],
} as const;

function Checks({ rows }: { readonly rows: readonly CheckRow[] }) {
	return (
		<>
			<h3>Checks</h3>
			{rows.length === 0 ? (
				<p>No check has a problem.</p>
			) : (
				<ul class="plain-list">
					{rows.map((row) => (
						<Check key={`${row.kind} ${row.address}`} row={row} />
					))}
				</ul>
			)}
		</>
	);
}

function Check({ row }: { readonly row: CheckRow }) {
	const [tone, word] = checkMarks[row.status as keyof typeof checkMarks] ?? ["muted", row.status];
	return (
		<li>
			<Mark tone={tone}>{word}</Mark> <bdi class="user-text">{row.address}</bdi> <span class="muted">{row.kind}</span>
			{row.problems.map((problem) => (
				<p key={problem} class="user-text">
					{problem}
				</p>
			))}
		</li>
	);
}
