// SPDX-License-Identifier: MPL-2.0
import { FilterChips } from "../../components/filters.tsx";
import { SearchField } from "../../components/search_field.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { useQuery } from "../../core/hooks.ts";
import { flag, linksOf, type Resource, text } from "../../core/resource.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { AdminFrame } from "./admin_frame.tsx";
import { hasFactor, reasonFor, UserActions } from "./user_actions.tsx";

const shownOrganizations = 3;

// The organization's name is its id.
function organizationsOf(item: Resource): string {
	const names = linksOf(item, "organizations").map((link) => link.id);
	const rest = names.length - shownOrganizations;
	return names.slice(0, shownOrganizations).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

const kind: ObjectKind = {
	type: "users",
	one: "user",
	many: "Users",
	empty: "No user matches.",
	name: (item) => text(item, "username"),
	item: (id) => `/admin/users/${segment(id)}`,
	fields: [],
	columns: [
		{ key: "email", head: "E-mail", class: "wide", cell: (item) => text(item, "email") },
		{
			key: "state",
			head: "State",
			class: "tight",
			cell: (item) => (flag(item, "is-suspended") ? <Mark tone="failure">Suspended</Mark> : <Mark tone="success">Active</Mark>),
		},
		{ key: "admin", head: "Site admin", cell: (item) => (flag(item, "is-site-admin") ? "Site admin" : <span class="muted">–</span>) },
		{
			key: "organizations",
			head: "Organizations",
			class: "extra",
			cell: (item) => organizationsOf(item) || <span class="muted">None</span>,
		},
		{ key: "factor", head: "Two factors", class: "extra", cell: (item) => (hasFactor(item) ? "Yes" : <span class="muted">–</span>) },
		{
			key: "emergency",
			head: "Emergency",
			class: "extra",
			cell: (item) => (flag(item, "is-break-glass") ? "Yes" : <span class="muted">–</span>),
		},
	],
	actions: (item, reload) => <UserActions user={item} reload={reload} />,
	keeps: reasonFor,
	typed: true,
	removes: "Their tokens, sessions and memberships are deleted. Their runs stay. This can't be undone.",
};

const chips = [
	{ key: "", word: "All" },
	{ key: "admins", word: "Site admins" },
	{ key: "suspended", word: "Suspended" },
] as const;

export default function AdminUsers() {
	const query = useQuery();
	const q = query.get("q") ?? "";
	const shown = query.get("show");
	const url = address("/admin/users", {
		q,
		"page[number]": query.get("page") ?? undefined,
		"filter[admin]": shown === "admins" ? "true" : undefined,
		"filter[suspended]": shown === "suspended" ? "true" : undefined,
	});
	return (
		<AdminFrame
			section="users"
			intro={
				<>
					To make an account: <code>runyard-scheduler add-user USER EMAIL</code>
				</>
			}
		>
			<div class="filters">
				<SearchField label="Search users" hint="Name or e-mail" name="q" value={q} />
				<FilterChips label="Users" name="show" chips={chips} />
			</div>
			<ObjectList kind={kind} url={url} createPath="" />
		</AdminFrame>
	);
}
