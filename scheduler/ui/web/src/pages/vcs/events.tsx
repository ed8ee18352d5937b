// SPDX-License-Identifier: MPL-2.0
import { FilterSelect, NothingMatches } from "../../components/filters.tsx";
import { ListStatus } from "../../components/list_status.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count, momentOf } from "../../core/format.ts";
import { useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { timesInUtc } from "../../core/preferences.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo, queryChange } from "../../core/router.ts";
import { useStableRows } from "../../core/stable_rows.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { Sha } from "../../vcs/commit_line.tsx";
import { EventTitle } from "./event_title.tsx";
import { eventOf, foundWord, stateOf } from "./event_words.ts";
import { connectionName } from "./token_state.tsx";

export default function Events({ params }: PageProps) {
	const org = params.org ?? "";
	useTitle(["VCS events", org]);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "VCS events" }]} />
			<h1 tabIndex={-1}>VCS events</h1>
			<p>
				Pushes, tags and pull requests in the repositories of the organization, and the runs that they started. Events are kept for 30 days.
			</p>
			<EventList org={org} />
		</>
	);
}

const filters = ["level", "connection", "from", "to", "workspace"];

function DayField({ name, word }: { readonly name: string; readonly word: string }) {
	return (
		<label class="day">
			{word}{" "}
			<input
				type="date"
				value={useQuery().get(name) ?? ""}
				onChange={(event) => queryChange({ [name]: event.currentTarget.value, page: "" }, false)}
			/>
		</label>
	);
}

function Filters({ org }: { readonly org: string }) {
	const connections = useDocument(address(`/organizations/${segment(org)}/oauth-clients`));
	const names = connections.items.map((item) => [item.id, connectionName(item)] as const);
	return (
		<div class="filters">
			<FilterSelect
				label="Level"
				name="level"
				options={[
					["", "Any level"],
					["info", "Info"],
					["error", "Error"],
				]}
			/>
			<FilterSelect label="Connection" name="connection" options={[["", "Any connection"], ...names]} />
			<SearchField label="Workspace" hint="Workspace" name="workspace" value={useQuery().get("workspace") ?? ""} />
			<DayField name="from" word="From" />
			<DayField name="to" word="To" />
		</div>
	);
}

function WhatCell({ org, event }: { readonly org: string; readonly event: Resource }) {
	const { sha, commitHref, subject, sender, repository, message } = eventOf(event);
	return (
		<>
			<a class="row-link" href={pathTo("/app/:org/vcs/events/:event", { org, event: event.id })}>
				<EventTitle event={event} />
			</a>
			<div class="commit-line muted">
				{sha && <Sha sha={sha} href={commitHref} above />}
				<bdi>{repository}</bdi>
				{sender && <bdi>{sender}</bdi>}
				{subject && <bdi>{subject}</bdi>}
			</div>
			{message && (
				<div>
					<bdi>{message}</bdi>
				</div>
			)}
		</>
	);
}

function columnsOf(org: string): readonly Column[] {
	return [
		{
			key: "state",
			head: "State",
			class: "tight",
			cell: (event) => {
				const [tone, word] = stateOf(event);
				return <Mark tone={tone}>{word}</Mark>;
			},
		},
		{ key: "what", head: "Event", class: "message", cell: (event) => <WhatCell org={org} event={event} /> },
		{ key: "found", head: "Found", class: "wide extra", cell: (event) => <span class="muted">{foundWord(text(event, "found-by"))}</span> },
		{ key: "time", head: "Time", class: "tight", cell: (event) => <TimeAgo time={event.attributes["created-at"]} /> },
	];
}

// The page of a user without the permission. For users outside of the organization, the organization does not exist.
function Refused({ org }: { readonly org: string }) {
	return (
		<Content of={useDocument(address(`/organizations/${segment(org)}`))}>
			{() => (
				<p class="note">
					The list of events needs the permission to manage VCS settings. Without it, you can open the events of workspaces that you see by
					their address, such as from a commit status.
				</p>
			)}
		</Content>
	);
}

function EventList({ org }: { readonly org: string }) {
	const query = useQuery();
	const url = address(`/organizations/${segment(org)}/vcs-events`, {
		"filter[levels]": query.get("level") ?? undefined,
		"filter[oauth_client_external_ids]": query.get("connection") ?? undefined,
		"filter[workspace]": query.get("workspace") ?? undefined,
		"filter[from]": momentOf(query.get("from") ?? "", "00:00:00", timesInUtc()),
		"filter[to]": momentOf(query.get("to") ?? "", "23:59:59.999", timesInUtc()),
		"page[number]": query.get("page") ?? 1,
		"page[size]": 30,
	});
	const list = useDocument(url);
	const rows = useStableRows(list, url);
	const total = list.pages?.["total-count"];
	useLive([`org:${org}`], () => void list.reload());
	if (list.error?.status === 404 && list.asOf === 0) return <Refused org={org} />;
	return (
		<>
			<Filters org={org} />
			<Content of={list}>
				{() => {
					if (rows.rows.length > 0) {
						return (
							<>
								<ListStatus rows={rows} word="show">
									{total === undefined ? "" : `${count(total)} in total`}
								</ListStatus>
								<Table caption="VCS events" columns={columnsOf(org)} rows={rows.rows} stacked />
								<Pagination pages={list.pages} />
							</>
						);
					}
					return filters.some((name) => query.get(name)) ? (
						<NothingMatches />
					) : (
						<EmptyState title="No events">
							<p>
								Connect a workspace to a repository in its settings, under Version control.{" "}
								<a href={pathTo("/app/:org/settings/vcs-connections", { org })}>VCS connections</a>
							</p>
						</EmptyState>
					);
				}}
			</Content>
		</>
	);
}
