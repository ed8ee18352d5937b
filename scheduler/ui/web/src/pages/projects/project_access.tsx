// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { namesOf, type ObjectKind, optionWord } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { teamOf } from "../team_of.ts";

const levels = [
	["read", "Read: see its workspaces"],
	["write", "Write: also queue and apply runs, change variables and states"],
	["maintain", "Maintain: also create, move and delete workspaces, and change their settings"],
	["admin", "Admin: also settings and access of teams of the project"],
] as const;

const all = [...levels, ["custom", "Custom: the details that the API has"]] as const;

function kindOf(project: Resource, teams: readonly Resource[]): ObjectKind {
	return {
		type: "team-projects",
		one: "access",
		many: "Access of teams",
		empty: "No team has access to this project. Teams can have access to the organization or to single workspaces.",
		name: teamOf,
		item: (id) => `/team-projects/${segment(id)}`,
		add: "Give access",
		create: "Give access",
		missing: ({ team }) => (team === "" ? "no team is chosen" : undefined),
		relationships: { project: { data: { type: "projects", id: project.id } } },
		fields: [
			{
				name: "team",
				label: "Team",
				kind: "choice",
				relation: "teams",
				only: "create",
				options: [["", "Choose"], ...namesOf(teams.filter((team) => text(team, "name") !== "owners"))],
			},
			{ name: "access", label: "Access", kind: "choice", options: levels, initial: "read", only: "create" },
			{ name: "access", label: "Access", kind: "choice", options: all, only: "update" },
		],
		columns: [{ key: "access", head: "Access", cell: (item) => optionWord(all, text(item, "access")) }],
		remove: "Remove",
		removes: "Its members keep what the organization and other teams give them.",
	};
}

// The access of teams to all workspaces of a project.
export function ProjectAccess({ org, project }: { readonly org: string; readonly project: Resource }) {
	const teams = useDocument(address(`/organizations/${segment(org)}/teams`, { "page[size]": 100 })); // for their names, too
	return (
		<>
			<h2>Access of teams</h2>
			<ObjectList
				kind={kindOf(project, teams.items)}
				url={address("/team-projects", { "filter[project][id]": project.id, "page[size]": 100 })}
				createPath="/team-projects"
				reason={may(project, "can-manage-teams") ? undefined : "you need admin access to the project"}
			/>
		</>
	);
}
