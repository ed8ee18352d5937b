// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { namesOf, type ObjectKind, optionWord } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { teamOf } from "../team_of.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { accessFields, detailWords, levels } from "./access_levels.ts";
import { mayManage, needsAdmin, SettingsFrame } from "./settings_frame.tsx";

export default function TeamAccess({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="team-access">
			{(view) => <AccessList view={view} />}
		</SettingsFrame>
	);
}

// free: the teams without access of their own. They may come after the dialog was opened.
function kindOf(workspace: string, free: readonly Resource[]): ObjectKind {
	return {
		type: "team-workspaces",
		one: "access of team",
		many: "Teams with access",
		head: "Team",
		empty: "No team has access of its own to this workspace.",
		name: teamOf,
		item: (id) => `/team-workspaces/${segment(id)}`,
		add: "Give access",
		create: "Save access",
		save: "Save access",
		confirmRemove: "Remove access",
		missing: ({ team }) => (team === "" ? "the teams are not loaded yet" : undefined),
		fields: [
			{
				name: "team",
				label: "Team",
				kind: "choice",
				relation: "teams",
				options: namesOf(free),
				initial: free[0]?.id ?? "",
				only: "create",
			},
			...accessFields,
		],
		relationships: { workspace: { data: { type: "workspaces", id: workspace } } },
		columns: [{ key: "access", head: "Access", cell: (item) => <Access item={item} /> }],
		remove: "Remove",
		removes: "Its members keep what their project, the organization and other teams give them.",
	};
}

function Access({ item }: { readonly item: Resource }) {
	const level = text(item, "access");
	return (
		<>
			{optionWord(levels, level)}
			{level === "custom" && <div class="muted">{detailWords(item)}</div>}
		</>
	);
}

function AccessList({ view }: { readonly view: WorkspaceView }) {
	const url = address("/team-workspaces", { "filter[workspace][id]": view.workspace.id, "page[size]": 100 });
	const accesses = useDocument(url);
	const teams = useDocument(address(`/organizations/${segment(view.org)}/teams`, { "page[size]": 100 }));
	const given = new Set(accesses.items.map((access) => linkOf(access, "team")?.id));
	const free = teams.items.filter((team) => !given.has(team.id) && text(team, "name") !== "owners");
	return (
		<ObjectList
			kind={kindOf(view.workspace.id, free)}
			list={accesses}
			createPath="/team-workspaces"
			intro="The owners may do everything. Other teams also have what their project and the organization give them."
			reason={mayManage(view) ? undefined : needsAdmin}
			noneLeft={teams.asOf > 0 && free.length === 0 ? "no other team is left" : undefined}
		/>
	);
}
