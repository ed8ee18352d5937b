// SPDX-License-Identifier: MPL-2.0
import { PlanCounts } from "../../changes/plan_counts.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Chip, StatusMark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Elapsed, TimeAgo } from "../../components/time_ago.tsx";
import { moneyDelta, shortId } from "../../core/format.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { runTitle } from "../../core/run_title.ts";
import { isFinal, reachedAt } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { commitOf } from "../../vcs/commit.ts";
import { CommitLine } from "../../vcs/commit_line.tsx";
import { sourceWord } from "./query.ts";

type Props = {
	readonly caption: string;
	readonly org: string;
	readonly runs: readonly Resource[];
	readonly ws?: string; // the workspace of all runs; none: each has its own
	readonly more?: readonly Column[];
	readonly brief?: boolean; // without cost, creation, duration and id
};

export const runIncludes = "plan,created_by,cost_estimate,configuration_version.ingress_attributes";

function workspaceOf(run: Resource, ws: string | undefined): string {
	return ws ?? text(store.one(run, "workspace"), "name");
}

function modeOf(run: Resource): string {
	if (flag(run, "is-destroy")) {
		return "destroy";
	}
	if (flag(run, "refresh-only")) {
		return "refresh-only";
	}
	return flag(run, "plan-only") ? "plan-only" : flag(run, "save-plan") ? "saved" : "";
}

function endOf(run: Resource): unknown {
	return isFinal(text(run, "status")) ? (reachedAt(run) ?? run.attributes["updated-at"]) : undefined;
}

type CellProps = { readonly org: string; readonly run: Resource; readonly ws: string | undefined; readonly brief: boolean };

function MessageCell({ org, run, ws, brief }: CellProps) {
	const mode = modeOf(run);
	const commit = commitOf(run);
	return (
		<>
			<div class="narrow">
				<StatusMark run={run} /> {ws === undefined && workspaceOf(run, ws)} <TimeAgo time={run.attributes["created-at"]} />
			</div>
			<a class="row-link" href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: workspaceOf(run, ws), run: run.id })}>
				{runTitle(run)}
			</a>
			{mode && <Chip tone={mode === "destroy" ? "failure" : "muted"}>{mode}</Chip>}
			{commit && <CommitLine commit={commit} />}
			{!brief && <RunWait run={run} />}
		</>
	);
}

function CostCell({ run }: { readonly run: Resource }) {
	const cost = store.one(run, "cost-estimate");
	return text(cost, "status") === "finished" ? <span title="a month">{moneyDelta(text(cost, "delta-monthly-cost"))}</span> : null;
}

const details: readonly Column[] = [
	{ key: "cost", head: "Cost", class: "wide extra tight number", cell: (run) => <CostCell run={run} /> },
	{ key: "created", head: "Created", class: "wide tight", cell: (run) => <Created run={run} /> },
	{
		key: "time",
		head: "Duration",
		class: "wide extra tight number",
		cell: (run) => <Elapsed since={run.attributes["created-at"]} until={endOf(run)} />,
	},
	{
		key: "id",
		head: "Run",
		class: "wide extra tight",
		cell: (run) => (
			<span class="above-row">
				<CopyId id={run.id} shown={shortId(run.id)} />
			</span>
		),
	},
];

function columnsOf({ org, ws, more = [], brief = false }: Props): readonly Column[] {
	const workspace: Column = {
		key: "workspace",
		head: "Workspace",
		class: "wide tight",
		cell: (run) => (
			<a class="above-row" href={pathTo("/app/:org/workspaces/:ws", { org, ws: workspaceOf(run, ws) })}>
				{workspaceOf(run, ws)}
			</a>
		),
	};
	return [
		{ key: "status", head: "Status", class: "wide tight", cell: (run) => <StatusMark run={run} /> },
		{ key: "message", head: "Message", class: "message", cell: (run) => <MessageCell org={org} run={run} ws={ws} brief={brief} /> },
		...(ws === undefined ? [workspace] : []),
		...more,
		{ key: "changes", head: "Changes", class: "wide tight", cell: (run) => <PlanCounts plan={store.one(run, "plan")} /> },
		...(brief ? [] : details),
	];
}

// The time, the user and the source.
function Created({ run }: { readonly run: Resource }) {
	const source = commitOf(run) ? "Commit" : sourceWord(text(run, "source"));
	const reason = text(run, "trigger-reason");
	return (
		<>
			<TimeAgo time={run.attributes["created-at"]} />{" "}
			<span class="muted" title={reason}>
				{text(store.one(run, "created-by"), "username")} · {source}
			</span>
		</>
	);
}

// Runs, one to a row. Each row opens its run.
export function RunTable(props: Props) {
	return <Table caption={props.caption} columns={columnsOf(props)} rows={props.runs} />;
}

// Why the run waits, for lists whose request includes `waiting`. The list's row leads to the run.
export function RunWait({ run }: { readonly run: Resource }) {
	const why = text(store.one(run, "waiting"), "text");
	return why ? <div class="run-wait muted">{why}</div> : null;
}
