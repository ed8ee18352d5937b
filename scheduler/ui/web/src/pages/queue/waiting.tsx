// SPDX-License-Identifier: MPL-2.0
import { Pagination } from "../../components/pagination.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { count } from "../../core/format.ts";
import { flag, list, number, type PageNumbers, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";

// rowsOf: the objects of an attribute as rows of a table.
function rowsOf(queue: Resource, name: string): readonly Resource[] {
	return list(queue, name).map((item) => {
		const attributes = item as Record<string, unknown>;
		return { type: name, id: String(attributes.id), attributes };
	});
}

function runPath(run: Resource): string {
	return pathTo("/app/:org/workspaces/:ws/runs/:run", {
		org: text(run, "organization-name"),
		ws: text(run, "workspace-name"),
		run: run.id,
	});
}

const runColumns = [
	{
		key: "workspace",
		head: "Workspace",
		cell: (run: Resource) => (
			<a class="row-link" href={runPath(run)}>
				{text(run, "workspace-name")}
			</a>
		),
	},
	{ key: "message", head: "Message", class: "wide clip", cell: (run: Resource) => text(run, "message") },
	{ key: "reason", head: "Waits for", cell: (run: Resource) => text(run, "description") || text(run, "reason") },
	{
		key: "position",
		head: "Position",
		class: "wide number",
		cell: (run: Resource) => count(number(run, "position") ?? 0).replace(/^0$/, "–"),
	},
	{ key: "created", head: "Created", class: "wide", cell: (run: Resource) => <TimeAgo time={run.attributes["created-at"]} /> },
];

export const pageSize = 50;

// The API has the total in the queue itself.
function pagesOf(total: number, page: number): PageNumbers {
	const last = Math.max(1, Math.ceil(total / pageSize));
	return {
		"current-page": page,
		"page-size": pageSize,
		"prev-page": page > 1 ? page - 1 : null,
		"next-page": page < last ? page + 1 : null,
		"total-pages": last,
	};
}

export function PendingRuns({ queue, page, site }: { readonly queue: Resource; readonly page: number; readonly site: boolean }) {
	const rows = rowsOf(queue, "pending-runs");
	const total = number(queue, "pending-runs-total") ?? rows.length;
	const organization = {
		key: "organization",
		head: "Organization",
		class: "wide",
		cell: (run: Resource) => text(run, "organization-name"),
	};
	return (
		<section aria-labelledby="pending">
			<h2 id="pending">Pending runs {total > 0 && <span class="count">{count(total)}</span>}</h2>
			{rows.length === 0 ? (
				<p class="muted">No run is pending.</p>
			) : (
				<Table caption="Pending runs" columns={site ? [...runColumns, organization] : runColumns} rows={rows} stacked />
			)}
			<Pagination pages={pagesOf(total, page)} />
		</section>
	);
}

const stageWords: Readonly<Record<string, string>> = {
	pre_plan: "Before the plan",
	post_plan: "After the plan",
	pre_apply: "Before the apply",
	post_apply: "After the apply",
};

const taskColumns = [
	{ key: "task", head: "Run task", cell: (task: Resource) => text(task, "task-name") },
	{ key: "workspace", head: "Workspace", cell: (task: Resource) => text(task, "workspace-name") },
	{ key: "stage", head: "Stage", class: "wide", cell: (task: Resource) => stageWords[text(task, "stage")] ?? text(task, "stage") },
	{
		key: "status",
		head: "Status",
		cell: (task: Resource) => <Mark tone="running">{flag(task, "sent") ? "Sent, no answer yet" : "Not sent yet"}</Mark>,
	},
	{ key: "due", head: "Deadline", cell: (task: Resource) => <TimeAgo time={task.attributes["due-at"]} /> },
];

export function RunTasks({ queue }: { readonly queue: Resource }) {
	const rows = rowsOf(queue, "run-tasks");
	return rows.length === 0 ? null : (
		<section aria-labelledby="run-tasks">
			<h2 id="run-tasks">
				Run tasks without an answer <span class="count">{count(rows.length)}</span>
			</h2>
			<Table caption="Run tasks without an answer" columns={taskColumns} rows={rows} stacked />
		</section>
	);
}
