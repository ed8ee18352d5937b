// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from "preact/hooks";
import { Pagination } from "../../components/pagination.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Chip, runTone, runWord, StatusMark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { type Loaded, useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { flag, linkOf, number, type Resource, text, texts } from "../../core/resource.ts";
import { navigate, type PageProps, pathTo, queryChange, queryNow } from "../../core/router.ts";
import { isFinal, workspaceGroups } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { searchOf, stableOrder } from "./list.ts";

// The orders of the list, by the value of ?sort= and of the API.
const sorts: Readonly<Record<string, string>> = {
	name: "name",
	"-name": "-name",
	"latest-change-at": "latest-change-at",
	"-latest-change-at": "-latest-change-at",
	"current-run.created-at": "current-run.created-at",
	"-current-run.created-at": "-current-run.created-at",
};

function runOf(workspace: Resource): Resource | undefined {
	return store.one(workspace, "current-run");
}

function NameCell({ org, workspace }: { readonly org: string; readonly workspace: Resource }) {
	return (
		<>
			<a class="row-link" href={pathTo("/app/:org/workspaces/:ws", { org, ws: text(workspace, "name") })}>
				{text(workspace, "name")}
			</a>
			{texts(workspace, "tag-names").map((tag) => (
				<Chip key={tag}>{tag}</Chip>
			))}
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

function LockCell({ workspace }: { readonly workspace: Resource }) {
	const by = linkOf(workspace, "locked-by");
	if (!flag(workspace, "locked") || by?.type === "runs") {
		return null;
	}
	return (
		<span title={text(workspace, "locked-reason")}>
			Locked by {text(store.get(by), "username") || text(store.get(by), "name") || "a person"}
		</span>
	);
}

// A column's head that sorts by it, and then the other way round.
function SortLink({ by, word }: { readonly by: string; readonly word: string }) {
	const query = queryNow();
	query.set("sort", query.get("sort") === by ? `-${by}` : by);
	query.delete("page");
	return <a href={`?${query}`}>{word}</a>;
}

function sortState(by: string): "ascending" | "descending" | "none" {
	const sort = queryNow().get("sort");
	return sort === by ? "ascending" : sort === `-${by}` ? "descending" : "none";
}

function columnsOf(org: string): readonly Column[] {
	return [
		{
			key: "name",
			head: <SortLink by="name" word="Name" />,
			sort: sortState("name"),
			cell: (row) => <NameCell org={org} workspace={row} />,
		},
		{ key: "project", head: "Project", class: "wide", cell: (row) => text(store.one(row, "project"), "name") },
		{
			key: "run",
			head: <SortLink by="current-run.created-at" word="Run" />,
			sort: sortState("current-run.created-at"),
			cell: (row) => <RunCell org={org} workspace={row} />,
		},
		{ key: "message", head: "Message", class: "wide clip", cell: (row) => text(runOf(row), "message") },
		{
			key: "change",
			head: <SortLink by="latest-change-at" word="Latest change" />,
			sort: sortState("latest-change-at"),
			class: "wide",
			cell: (row) => <TimeAgo time={row.attributes["latest-change-at"]} />,
		},
		{ key: "resources", head: "Resources", class: "wide number", cell: (row) => count(number(row, "resource-count") ?? 0) },
		{ key: "lock", head: "Lock", class: "wide", cell: (row) => <LockCell workspace={row} /> },
	];
}

// ---- filters ----

function Counted({ org, path, names }: { readonly org: string; readonly path: string; readonly names: readonly string[] }) {
	const found = useDocument(address(path, { "page[size]": 1, "filter[current-run][status]": names.join(",") || undefined }));
	useLive([`org:${org}`], () => void found.reload());
	const total = found.pages?.["total-count"];
	return total === undefined ? null : <span class="count">{count(total)}</span>;
}

function StatusChips({ org, path, chosen }: { readonly org: string; readonly path: string; readonly chosen: string }) {
	const groups = [{ key: "", word: "All", names: [] as readonly string[] }, ...workspaceGroups];
	return (
		<nav class="chips" aria-label="Filter by status">
			{groups.map((group) => {
				const query = queryNow();
				query.delete("page");
				if (group.key) {
					query.set("status", group.key);
				} else {
					query.delete("status");
				}
				return (
					<a key={group.key} class="chip" href={`${location.pathname}?${query}`} aria-current={chosen === group.key ? "true" : undefined}>
						{group.word} <Counted org={org} path={path} names={group.names} />
					</a>
				);
			})}
		</nav>
	);
}

const typingMs = 250;

function SearchField({ value }: { readonly value: string }) {
	const [typed, setTyped] = useState(value);
	useEffect(() => setTyped(value), [value]);
	useEffect(() => {
		if (typed === value) {
			return;
		}
		const timer = setTimeout(() => queryChange({ q: typed, page: "" }), typingMs);
		return () => clearTimeout(timer);
	}, [typed, value]);
	return (
		<input
			type="search"
			aria-label="Search by name"
			placeholder="Search by name, tag:NAME"
			value={typed}
			onInput={(event) => setTyped(event.currentTarget.value)}
		/>
	);
}

// ---- the list ----

function useStableRows(list: Loaded, view: string): { rows: readonly Resource[]; moved: number; sort: () => void } {
	const [kept, setKept] = useState<{ view: string; ids: readonly string[] }>({ view: "", ids: [] });
	const fresh = list.items.map((item) => item.id);
	const { ids, moved } = stableOrder(kept.view === view ? kept.ids : [], fresh);
	const key = ids.join(" ");
	useEffect(() => setKept({ view, ids }), [view, key]);
	const byId = new Map(list.items.map((item) => [item.id, item]));
	return { rows: ids.flatMap((id) => byId.get(id) ?? []), moved, sort: () => setKept({ view, ids: fresh }) };
}

function NoWorkspaces({ org }: { readonly org: string }) {
	const block = `terraform {\n  cloud {\n    hostname     = "${location.host}"\n    organization = "${org}"\n    workspaces {\n      name = "example"\n    }\n  }\n}`;
	return (
		<EmptyState title="No workspaces">
			<p>Add this block to a configuration and run terraform init. It creates the workspace.</p>
			<pre>{block}</pre>
		</EmptyState>
	);
}

function NothingMatches() {
	return (
		<EmptyState title="Nothing matches">
			<button type="button" class="button plain" onClick={() => navigate(location.pathname)}>
				Clear filters
			</button>
		</EmptyState>
	);
}

export default function Workspaces({ params }: PageProps) {
	const org = params.org ?? "";
	const query = useQuery();
	const status = query.get("status") ?? "";
	const search = query.get("q") ?? "";
	const group = workspaceGroups.find((candidate) => candidate.key === status);
	const path = `/organizations/${segment(org)}/workspaces`;
	const url = address(path, {
		...searchOf(search),
		"filter[current-run][status]": group?.names.join(","),
		sort: sorts[query.get("sort") ?? ""],
		"page[number]": query.get("page") ?? undefined,
		"page[size]": 50,
		include: "current_run,project,locked_by",
	});
	const list = useDocument(url);
	const { rows, moved, sort } = useStableRows(list, url);
	const inProgress = list.items.map(runOf).find((run) => run && !isFinal(text(run, "status")));
	useLive([`org:${org}`], () => void list.reload());
	useTitle(["Workspaces", org], inProgress ? runWord(inProgress) : "", inProgress && runTone(inProgress));
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Workspaces" }]} />
			<h1 tabIndex={-1}>Workspaces</h1>
			<div class="filters">
				<StatusChips org={org} path={path} chosen={status} />
				<SearchField value={search} />
			</div>
			<Content of={list}>
				{() => (
					<>
						{moved > 0 && (
							<p class="note" role="status">
								{moved} changed.{" "}
								<button type="button" class="button plain" onClick={sort}>
									Re-sort
								</button>
							</p>
						)}
						{rows.length > 0 ? (
							<Table caption="Workspaces" columns={columnsOf(org)} rows={rows} />
						) : status || search ? (
							<NothingMatches />
						) : (
							<NoWorkspaces org={org} />
						)}
						<Pagination pages={list.pages} />
					</>
				)}
			</Content>
		</>
	);
}
