// SPDX-License-Identifier: MPL-2.0
import { Pagination } from "../../components/pagination.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Chip } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address } from "../../core/api.ts";
import { count, size } from "../../core/format.ts";
import { useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { flag, linkOf, number, type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { DetachedStates } from "./detached.tsx";
import { authorOf } from "./state_words.ts";

export default function States({ params }: PageProps) {
	return (
		<Frame
			params={params}
			page="states"
			needs={{
				right: "can-read-state-versions",
				note: "You need read access to the states of this workspace. Its outputs are on the overview.",
			}}
		>
			{(view) => <StateList view={view} />}
		</Frame>
	);
}

export function RunCell({ view, state }: { readonly view: WorkspaceView; readonly state: Resource }) {
	const run = linkOf(state, "run");
	if (!run) {
		return <span class="muted">No run</span>;
	}
	return (
		<a class="above-row" href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run: run.id })}>
			{text(store.get(run), "message") || run.id}
		</a>
	);
}

function columnsOf(view: WorkspaceView): readonly Column[] {
	const current = linkOf(view.workspace, "current-state-version")?.id;
	return [
		{
			key: "serial",
			head: "Serial",
			cell: (state) => (
				<>
					<a class="row-link" href={pathTo("/app/:org/workspaces/:ws/states/:state", { org: view.org, ws: view.name, state: state.id })}>
						{count(number(state, "serial") ?? 0)}
					</a>
					{state.id === current && <Chip tone="success">Current</Chip>}
					{linkOf(state, "rollback-state-version") && <Chip>Rollback</Chip>}
					{flag(state, "recovered") && <Chip>Arrived late</Chip>}
					{flag(state, "intermediate") && <Chip>During an apply</Chip>}
				</>
			),
		},
		{ key: "created", head: "Created", cell: (state) => <TimeAgo time={state.attributes["created-at"]} /> },
		{ key: "run", head: "Run", class: "wide", cell: (state) => <RunCell view={view} state={state} /> },
		{ key: "by", head: "By", class: "wide", cell: authorOf },
		{ key: "version", head: "Terraform", class: "wide", cell: (state) => text(state, "terraform-version") },
		{ key: "size", head: "Size", class: "number", cell: (state) => size(number(state, "size") ?? 0) },
	];
}

function StateList({ view }: { readonly view: WorkspaceView }) {
	const query = useQuery();
	const filters = { "filter[organization][name]": view.org, "filter[workspace][name]": view.name };
	const states = useDocument(
		address("/state-versions", {
			...filters,
			"page[number]": query.get("page") ?? undefined,
			"page[size]": 50,
			include: "run,run.created_by,created_by",
		}),
	);
	useLive([`workspace:${view.workspace.id}`], () => void states.reload());
	return (
		<Content of={states}>
			{() => (
				<>
					{(number(view.workspace, "kept-state-versions-count") ?? 0) > 0 && <DetachedStates view={view} />}
					{states.items.length > 0 ? (
						<Table caption="Versions of the state" columns={columnsOf(view)} rows={states.items} />
					) : (
						<EmptyState title="No state">
							<p>The first apply writes one. terraform state push uploads an existing one.</p>
						</EmptyState>
					)}
					<Pagination pages={states.pages} />
				</>
			)}
		</Content>
	);
}
