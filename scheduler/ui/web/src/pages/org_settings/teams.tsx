// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { flag, linkOf, may, number, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { ObjectPages } from "./object_page.tsx";
import { byPath, type Linked, RelationList } from "./relation_list.tsx";
import { tokenKind } from "./token_kind.tsx";

const accesses = [
	["read-workspaces", "Read all workspaces"],
	["read-projects", "Read all projects"],
	["manage-workspaces", "Manage all workspaces"],
	["manage-projects", "Manage all projects"],
	["manage-policies", "Manage policies"],
	["manage-policy-overrides", "Override policies"],
	["delegate-policy-overrides", "Let other teams override policies"],
	["manage-run-tasks", "Manage run tasks"],
	["manage-agent-pools", "Manage agent pools"],
	["manage-vcs-settings", "Manage VCS settings and SSH keys"],
	["manage-membership", "Manage members"],
	["manage-teams", "Manage teams"],
	["manage-organization-access", "Change what teams may do in the organization"],
	["access-secret-teams", "See secret teams"],
	["manage-providers", "Manage providers"],
	["manage-modules", "Manage modules"],
] as const;

const visibilities = [
	["secret", "Secret: members and owners see it"],
	["organization", "Organization: all members of the organization see it"],
] as const;

const kind: ObjectKind = {
	type: "teams",
	one: "team",
	many: "Teams",
	empty: "No teams.",
	name: (item) => text(item, "name"),
	item: (id) => `/teams/${segment(id)}`,
	opens: true,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "visibility", label: "Visibility", kind: "choice", options: visibilities, initial: "secret" },
		{ name: "organization-access", label: "May, in the whole organization", kind: "flags", options: accesses, only: "update" },
		{ name: "allow-member-token-management", label: "Members may manage the team's tokens", kind: "flag", only: "update" },
	],
	columns: [
		{ key: "members", head: "Members", class: "wide number", cell: (item) => count(number(item, "users-count") ?? 0) },
		{ key: "visibility", head: "Visibility", cell: (item) => (text(item, "visibility") === "secret" ? "Secret" : "Organization") },
	],
	removes: "Its members lose what the team may do. Its tokens stop working.",
};

function reasonFor(team: Resource, right: string, what: string): string | undefined {
	if (flag(team, "scim-linked")) {
		return `the identity provider's group ${text(team, "scim-group-name")} decides who is a member`;
	}
	return may(team, right) ? undefined : `you may not ${what} of this team`;
}

// A team that follows a group of the identity provider.
function Follows({ team }: { readonly team: Resource }) {
	return (
		<p class="note">
			Members are those of the identity provider's group <strong>{text(team, "scim-group-name")}</strong>
			{flag(team, "scim-sync-paused") ? ". Paused: changes of the group are not applied." : ". Last change: "}
			{!flag(team, "scim-sync-paused") && <TimeAgo time={team.attributes["scim-updated-at"]} />}
		</p>
	);
}

const membersOf = (path: string): Linked => ({
	relation: "organization-memberships",
	type: "organization-memberships",
	one: "member",
	many: "Members",
	listPath: `${path}/organization-memberships`,
	search: "q",
	name: (item) => text(item, "username") || text(item, "email"),
});

export default function Teams({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="teams"
			intro="A team's permissions for single workspaces and projects are in their settings."
			kind={kind}
			below="/teams"
			right="can-create-team"
			what="manage teams"
			include="users,organization-memberships"
		>
			{({ view, item: team, reason, onDone }) => (
				<>
					{flag(team, "scim-linked") && <Follows team={team} />}
					<RelationList
						item={team}
						linked={membersOf(view.path)}
						change={byPath(`${kind.item(team.id)}/relationships/organization-memberships`, "organization-memberships")}
						empty="No members."
						reason={reasonFor(team, "can-update-membership", "change the members")}
						onDone={onDone}
					/>
					{!reason && (
						<ObjectList
							kind={tokenKind}
							url={address(`${view.path}/team-tokens`, { q: text(team, "name"), "page[size]": 100 })}
							createPath={`${kind.item(team.id)}/authentication-tokens`}
							wanted={(token) => linkOf(token, "team")?.id === team.id}
							heading
						/>
					)}
				</>
			)}
		</ObjectPages>
	);
}
