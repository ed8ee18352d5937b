// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Content } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { flag, linksOf, type Resource, text } from "../../core/resource.ts";
import { navigate, type PageProps, pathTo } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { type OrganizationView, SettingsFrame, without } from "../org_settings/settings_frame.tsx";
import { Connection } from "./connection.tsx";
import { ConnectionDialog } from "./connection_dialog.tsx";
import { Installations } from "./installations.tsx";
import { connectionName, TokenState, tokenOf } from "./token_state.tsx";

export default function Connections({ params }: PageProps) {
	return (
		<SettingsFrame
			params={params}
			section="vcs-connections"
			intro="A connection lets workspaces and policy sets take their configuration from repositories of a version control (VCS) provider."
		>
			{(view) => <ConnectionsPage view={view} />}
		</SettingsFrame>
	);
}

const statuses: Pick<ObjectKind, "type" | "fields" | "item"> = {
	type: "organizations",
	item: (id) => `/organizations/${segment(id)}`,
	fields: [
		{
			name: "vcs-apply-status-enabled",
			label: "Send a status for applies",
			kind: "flag",
			hint: "Its name ends with /apply. The other statuses of a commit are those of its plans and checks.",
		},
	],
};

function ConnectionsPage({ view }: { readonly view: OrganizationView }) {
	const id = useQuery().get("id");
	const reason = without(view, "can-update-oauth", "manage VCS settings");
	return id ? (
		<Connection key={id} view={view} id={id} reason={reason} />
	) : (
		<>
			<ConnectionList view={view} reason={reason} />
			<Installations view={view} reason={reason} />
			<section aria-label="Commit statuses">
				<h2>Commit statuses</h2>
				<SettingsForm kind={statuses} item={view.organization} reason={without(view, "can-update", "manage the organization")} />
			</section>
		</>
	);
}

const columns: readonly Column[] = [
	{
		key: "name",
		head: "Name",
		cell: (item) => (
			<a class="row-link" href={`?id=${encodeURIComponent(item.id)}`}>
				<bdi>{connectionName(item)}</bdi>
			</a>
		),
	},
	{
		key: "provider",
		head: "Provider",
		class: "wide",
		cell: (item) => (
			<>
				{text(item, "service-provider-display-name")}
				<div class="muted">
					<bdi>{text(item, "http-url")}</bdi>
				</div>
			</>
		),
	},
	{ key: "state", head: "State", cell: (item) => <TokenState token={tokenOf(item)} /> },
	{ key: "scope", head: "Projects", class: "wide", cell: scopeOf },
];

function scopeOf(item: Resource) {
	return flag(item, "organization-scoped") ? "All" : counted(linksOf(item, "projects").length, "project");
}

function ConnectionList({ view, reason }: { readonly view: OrganizationView; readonly reason: string | undefined }) {
	const [asked, setAsked] = useState(false);
	const list = useDocument(
		address(`${view.path}/oauth-clients`, { include: "oauth_tokens", "page[number]": useQuery().get("page") ?? 1, "page[size]": 50 }),
	);
	return (
		<section aria-label="VCS connections">
			<div class="list-head">
				<a href={pathTo("/app/:org/vcs/events", { org: view.org })}>Events</a>
				<Button kind="primary" reason={reason} onPress={() => setAsked(true)}>
					New connection
				</Button>
			</div>
			<Content of={list}>
				{() =>
					list.items.length === 0 ? (
						<p class="muted">No connections. Without one, configurations are uploaded by the CLI or the API, and commits start no runs.</p>
					) : (
						<>
							<Table caption="VCS connections" columns={columns} rows={list.items} stacked />
							<Pagination pages={list.pages} />
						</>
					)
				}
			</Content>
			{asked && (
				<ConnectionDialog
					path={view.path}
					onDone={(made) => navigate(`${location.pathname}?id=${encodeURIComponent(made.id)}`)}
					onClose={() => setAsked(false)}
				/>
			)}
		</section>
	);
}
