// SPDX-License-Identifier: MPL-2.0
import { SearchField } from "../../components/search_field.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useQuery } from "../../core/hooks.ts";
import { flag, linksOf, number, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { NewOrganization } from "../organizations/new_organization.tsx";
import { AdminFrame } from "./admin_frame.tsx";

function ownersOf(item: Resource): string {
	return linksOf(item, "owners")
		.map((link) => text(store.get(link), "username") || link.id)
		.join(", ");
}

const timeoutHint = "Such as 2h or 1h30m. Empty: the site's.";

const kind: ObjectKind = {
	type: "organizations",
	one: "organization",
	many: "Organizations",
	empty: "No organization matches.",
	name: (item) => text(item, "name"),
	path: (item) => pathTo("/app/:org/workspaces", { org: text(item, "name") }),
	item: (id) => `/admin/organizations/${segment(id)}`,
	fields: [
		{
			name: "is-disabled",
			label: "Disabled",
			kind: "flag",
			only: "update",
			hint: "Members and tokens find nothing of it. Current runs go on, and no run starts by itself.",
		},
		{ name: "concurrent-run-limit", label: "Runs at the same time", kind: "number", only: "update", hint: "0: no limit." },
		{ name: "workspace-limit", label: "Workspaces at most", kind: "number", only: "update", hint: "Empty: no limit." },
		{ name: "plan-timeout", label: "Time limit of plans", kind: "text", only: "update", nullable: true, hint: timeoutHint },
		{ name: "apply-timeout", label: "Time limit of applies", kind: "text", only: "update", nullable: true, hint: timeoutHint },
	],
	columns: [
		{
			key: "state",
			head: "State",
			class: "tight",
			cell: (item) => (flag(item, "is-disabled") ? <Mark tone="failure">Disabled</Mark> : <Mark tone="success">Active</Mark>),
		},
		{ key: "workspaces", head: "Workspaces", class: "wide number", cell: (item) => count(number(item, "workspace-count") ?? 0) },
		{ key: "runs", head: "Current runs", class: "wide number", cell: (item) => runsOf(item) },
		{ key: "owners", head: "Owners", class: "wide", cell: (item) => ownersOf(item) || <span class="muted">None</span> },
		{ key: "created", head: "Created", class: "wide extra", cell: (item) => <TimeAgo time={item.attributes["created-at"]} /> },
	],
	typed: true,
	removes:
		"Its workspaces with their states, runs, variables and logs are lost. Nothing that it manages is destroyed. This can't be undone.",
};

function runsOf(item: Resource): string {
	const limit = number(item, "concurrent-run-limit") ?? 0;
	const runs = count(number(item, "current-run-count") ?? 0);
	return limit > 0 ? `${runs} (limit ${count(limit)})` : runs;
}

export default function AdminOrganizations() {
	const query = useQuery();
	const q = query.get("q") ?? "";
	const url = address("/admin/organizations", { q, "page[number]": query.get("page") ?? undefined, include: "owners" });
	return (
		<AdminFrame section="organizations">
			<div class="filters">
				<SearchField label="Search organizations" hint="Name or e-mail" name="q" value={q} />
				<NewOrganization />
			</div>
			<ObjectList kind={kind} url={url} createPath="" />
		</AdminFrame>
	);
}
