// SPDX-License-Identifier: MPL-2.0
// The columns of the list of workspaces.

import { Chip, Mark, StatusMark } from "../../components/status_mark.tsx";
import type { Column } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { count } from "../../core/format.ts";
import { linkOf, number, object, type Resource, text, texts } from "../../core/resource.ts";
import { addressWith, pathTo, queryNow } from "../../core/router.ts";
import { runTitle } from "../../core/run_title.ts";
import { store } from "../../core/store.ts";
import { TagChips } from "../../objects/tag_list.tsx";
import { framePath, lockOf } from "../workspace/frame_links.ts";
import { warningOf } from "../workspace_health/health_words.ts";
import { barTone, recentRuns, recentText } from "./list.ts";

export function runOf(workspace: Resource): Resource | undefined {
	return store.one(workspace, "current-run");
}

function RunTitle({ workspace }: { readonly workspace: Resource }) {
	const run = runOf(workspace);
	return <>{run && runTitle(run)}</>;
}

function HealthWarning({ org, workspace }: { readonly org: string; readonly workspace: Resource }) {
	const warning = warningOf(store.one(workspace, "current-assessment-result"));
	return warning ? (
		<a class="above-row" href={framePath("health", org, text(workspace, "name"))} title={warning}>
			<Chip tone="wait">
				Health warning <span class="sr-only">({warning})</span>
			</Chip>
		</a>
	) : null;
}

function NameCell({ org, workspace }: { readonly org: string; readonly workspace: Resource }) {
	const repository = object(workspace, "vcs-repo").identifier;
	return (
		<>
			<a class="row-link" href={pathTo("/app/:org/workspaces/:ws", { org, ws: text(workspace, "name") })}>
				{text(workspace, "name")}
			</a>
			<HealthWarning org={org} workspace={workspace} />
			<TagChips tags={texts(workspace, "tag-names").map((key) => ({ key, value: "" }))} path={location.pathname} what="Workspaces" />
			{typeof repository === "string" && <div class="muted">{repository}</div>}
		</>
	);
}

function RunCell({ org, workspace }: { readonly org: string; readonly workspace: Resource }) {
	const run = runOf(workspace);
	if (!run) {
		return <span class="muted">No run</span>;
	}
	return (
		<a class="above-row" href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: text(workspace, "name"), run: run.id })}>
			<StatusMark run={run} /> <TimeAgo time={run.attributes["created-at"]} />
		</a>
	);
}

// A bar for each of the last runs. Its height tells the outcome, too.
function RecentBars({ workspace }: { readonly workspace: Resource }) {
	const runs = recentRuns(store.one(workspace, "recent-runs"));
	return runs.length === 0 ? null : (
		<span class="bars" role="img" aria-label={recentText(runs)} title={recentText(runs)}>
			{runs.map((run) => (
				<span key={run.id} class={barTone(run)} />
			))}
		</span>
	);
}

function LockCell({ workspace }: { readonly workspace: Resource }) {
	const lock = lockOf(workspace, store.get(linkOf(workspace, "locked-by")));
	return lock ? (
		<span title={lock.reason}>
			<Mark tone="wait" icon="⊠">
				{lock.word}
			</Mark>
		</span>
	) : null;
}

// A column's head that sorts by it, and then the other way round.
function SortLink({ by, word }: { readonly by: string; readonly word: string }) {
	const sort = queryNow().get("sort");
	return (
		<a href={addressWith({ sort: sort === by ? `-${by}` : by, page: "" })}>
			{word}
			{sort === by && <span aria-hidden="true"> ↑</span>}
			{sort === `-${by}` && <span aria-hidden="true"> ↓</span>}
		</a>
	);
}

function sortState(by: string): "ascending" | "descending" | "none" {
	const sort = queryNow().get("sort");
	return sort === by ? "ascending" : sort === `-${by}` ? "descending" : "none";
}

export function columnsOf(org: string, withProject: boolean): readonly Column[] {
	const project: Column = {
		key: "project",
		head: "Project",
		class: "wide extra tight",
		cell: (row) => {
			const link = linkOf(row, "project");
			return (
				link && (
					<a class="above-row" href={pathTo("/app/:org/projects/:project", { org, project: link.id })}>
						{text(store.get(link), "name")}
					</a>
				)
			);
		},
	};
	return [
		{
			key: "name",
			head: <SortLink by="name" word="Name" />,
			sort: sortState("name"),
			class: "name",
			cell: (row) => <NameCell org={org} workspace={row} />,
		},
		...(withProject ? [project] : []),
		{
			key: "run",
			head: <SortLink by="current-run.created-at" word="Run" />,
			sort: sortState("current-run.created-at"),
			cell: (row) => <RunCell org={org} workspace={row} />,
		},
		{ key: "message", head: "Message", class: "wide clip", cell: (row) => <RunTitle workspace={row} /> },
		{ key: "recent", head: "Last 10", class: "wide extra tight", cell: (row) => <RecentBars workspace={row} /> },
		{
			key: "change",
			head: <SortLink by="latest-change-at" word="Latest change" />,
			sort: sortState("latest-change-at"),
			class: "wide extra tight",
			cell: (row) => <TimeAgo time={row.attributes["latest-change-at"]} />,
		},
		{ key: "resources", head: "Resources", class: "wide extra tight number", cell: (row) => count(number(row, "resource-count") ?? 0) },
		{ key: "lock", head: "Lock", class: "wide tight", cell: (row) => <LockCell workspace={row} /> },
	];
}
