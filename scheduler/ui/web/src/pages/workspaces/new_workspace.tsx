// SPDX-License-Identifier: MPL-2.0

import { segment } from "../../core/api.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { namesOf } from "../../objects/kinds.ts";
import { NewObject } from "../../objects/new_object.tsx";
import type { FormKind } from "../../objects/object_dialog.tsx";

const modes = [
	["remote", "Remote"],
	["local", "Local"],
] as const;

// projects: those in which the user may create workspaces. `project` is chosen at first if it is one of them.
function kindOf(projects: readonly Resource[], project: string): FormKind {
	const chosen = projects.find((item) => item.id === project) ?? projects[0];
	return {
		type: "workspaces",
		one: "workspace",
		create: "Create workspace",
		missing: ({ name }) => (name ? undefined : "it needs a name"),
		fields: [
			{
				name: "name",
				label: "Name",
				kind: "text",
				longest: 90,
				hint: "Letters, digits, - and _. The cloud block of the configuration names it.",
			},
			{
				name: "project",
				label: "Project",
				kind: "choice",
				relation: "projects",
				options: namesOf(projects),
				initial: chosen?.id ?? "",
			},
			{ name: "description", label: "Description", kind: "text" },
			{
				name: "execution-mode",
				label: "Execution mode",
				kind: "choice",
				options: modes,
				initial: "remote",
				hint: "Local: runs stay on your machine, the state is kept here. A pool of agents is chosen in the settings.",
			},
			{ name: "auto-apply", label: "Auto-apply", kind: "flag", hint: "Plans that succeed are applied without confirmation." },
		],
	};
}

type Props = {
	readonly org: string;
	readonly projects: readonly Resource[];
	readonly project: string;
	readonly primary?: boolean;
};

export function NewWorkspace({ org, projects, project, primary = false }: Props) {
	const allowed = projects.filter((item) => may(item, "can-create-workspace"));
	return (
		<NewObject
			kind={kindOf(allowed, project)}
			path={`/organizations/${segment(org)}/workspaces`}
			primary={primary}
			reason={allowed.length > 0 ? undefined : "you may not create workspaces in any project"}
			page={(made) => pathTo("/app/:org/workspaces/:ws", { org, ws: text(made, "name") })}
		/>
	);
}
