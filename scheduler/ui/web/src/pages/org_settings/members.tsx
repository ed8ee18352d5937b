// SPDX-License-Identifier: MPL-2.0
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { linksOf, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { namesOf, type ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { type OrganizationView, SettingsFrame } from "./settings_frame.tsx";

function teamsOf(item: Resource): string {
	return linksOf(item, "teams")
		.map((link) => text(store.get(link), "name") || link.id)
		.join(", ");
}

const kind: ObjectKind = {
	type: "organization-memberships",
	one: "member",
	many: "Members",
	empty: "No members match.",
	name: (item) => text(item, "username") || text(item, "email"),
	item: (id) => `/organization-memberships/${segment(id)}`,
	add: "Invite",
	create: "Invite",
	fields: [],
	columns: [
		{ key: "email", head: "E-mail", class: "wide", cell: (item) => text(item, "email") },
		{
			key: "status",
			head: "Status",
			cell: (item) => (text(item, "status") === "active" ? <Mark tone="success">Active</Mark> : <Mark tone="wait">Invited</Mark>),
		},
		{ key: "teams", head: "Teams", cell: (item) => teamsOf(item) || <span class="muted">None</span> },
		{ key: "since", head: "Since", class: "wide", cell: (item) => <TimeAgo time={item.attributes["created-at"]} /> },
	],
	remove: "Remove",
	removes: "The user loses access to this organization. The account stays.",
};

export default function Members({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="members">
			{(view) => <MemberList view={view} />}
		</SettingsFrame>
	);
}

function MemberList({ view }: { readonly view: OrganizationView }) {
	const path = `${view.path}/organization-memberships`;
	const teams = useDocument(address(`${view.path}/teams`, { "page[size]": 100 }));
	const url = address(path, { "page[number]": useQuery().get("page") ?? undefined, include: "user,teams" });
	const fields: ObjectKind["fields"] = [
		{ name: "email", label: "E-mail", kind: "email", only: "create" },
		{ name: "teams", label: "Teams", kind: "set", relation: "teams", options: namesOf(teams.items), only: "create" },
	];
	return <ObjectList kind={{ ...kind, fields }} url={url} createPath={path} />;
}
