// SPDX-License-Identifier: MPL-2.0
// The change requests of a workspace: what it should change. The explorer creates them.

import { FilterChips } from "../../components/filters.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { ArchiveButton } from "./archive_button.tsx";
import { excerpt } from "./excerpt.ts";

export default function ChangeRequests({ params }: PageProps) {
	return (
		<Frame
			params={params}
			page="requests"
			needs={{ right: "can-read-run", note: "You need read access to the runs of this workspace to see its change requests." }}
		>
			{(view) => <RequestList view={view} />}
		</Frame>
	);
}

const chips = [
	{ key: "", word: "Open" },
	{ key: "true", word: "Archived" },
];

function columnsOf(view: WorkspaceView, archived: boolean, reload: () => Promise<void>): readonly Column[] {
	const subject: Column = {
		key: "subject",
		head: "Subject",
		cell: (request) => (
			<a
				class="row-link"
				href={pathTo("/app/:org/workspaces/:ws/change-requests/:request", { org: view.org, ws: view.name, request: request.id })}
			>
				{text(request, "subject")}
			</a>
		),
	};
	const message: Column = {
		key: "message",
		head: "Description",
		class: "wide clip",
		cell: (request) => <bdi>{excerpt(text(request, "message"))}</bdi>,
	};
	const time: Column = archived
		? { key: "time", head: "Archived", class: "tight", cell: (request) => <TimeAgo time={request.attributes["archived-at"]} /> }
		: { key: "time", head: "Created", class: "tight", cell: (request) => <TimeAgo time={request.attributes["created-at"]} /> };
	const by: Column = { key: "by", head: "By", class: "wide tight", cell: (request) => personOf(request, archived) };
	const action: Column = {
		key: "action",
		head: <span class="sr-only">Actions</span>,
		class: "tight",
		cell: (request) => (
			<span class="above-row">
				<ArchiveButton view={view} request={request} onDone={reload} />
			</span>
		),
	};
	return [subject, message, time, by, ...(archived ? [] : [action])];
}

function personOf(request: Resource, archived: boolean) {
	return text(store.one(request, archived ? "archived-by-user" : "created-by"), "username") || <span class="muted">–</span>;
}

function RequestList({ view }: { readonly view: WorkspaceView }) {
	const query = useQuery();
	const archived = query.get("archived") === "true";
	const list = useDocument(
		address(`/workspaces/${segment(view.workspace.id)}/change-requests`, {
			"filter[archived]": String(archived),
			"page[number]": query.get("page") ?? undefined,
			"page[size]": 50,
			include: "created_by,archived_by_user",
		}),
	);
	useLive([`workspace:${view.workspace.id}`], () => void list.reload());
	return (
		<>
			<div class="filters">
				<FilterChips label="Filter change requests" name="archived" chips={chips} />
			</div>
			<Content of={list}>
				{() =>
					list.items.length > 0 ? (
						<>
							<Table
								caption={archived ? "Archived change requests" : "Open change requests"}
								columns={columnsOf(view, archived, list.reload)}
								rows={list.items}
							/>
							<Pagination pages={list.pages} />
						</>
					) : (
						<EmptyState title={archived ? "Nothing is archived" : "No open change requests"}>
							<p>
								A change request says what this workspace should change. Select workspaces in the{" "}
								<a href={`${pathTo("/app/:org/explorer", { org: view.org })}?type=workspaces`}>explorer</a> to create one.
							</p>
						</EmptyState>
					)
				}
			</Content>
		</>
	);
}
