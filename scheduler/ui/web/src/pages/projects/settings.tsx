// SPDX-License-Identifier: MPL-2.0
import { DialogButton } from "../../components/button.tsx";
import { Content } from "../../components/states.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, number, type Resource, text } from "../../core/resource.ts";
import { navigate, type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { RemoveDialog } from "../../objects/object_dialog.tsx";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { MaintenanceWindows } from "../maintenance_windows.tsx";
import { ProjectAccess } from "./project_access.tsx";

const kind: ObjectKind = {
	type: "projects",
	one: "project",
	many: "Projects",
	empty: "",
	name: (item) => text(item, "name"),
	item: (id) => `/projects/${segment(id)}`,
	columns: [],
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "description", label: "Description", kind: "text" },
		{
			name: "auto-destroy-activity-duration",
			label: "Destroy workspaces after inactivity",
			kind: "text",
			nullable: true,
			hint: "Such as 14d or 24h. Empty: never. Workspaces can have a time of their own.",
		},
	],
	removes: "Its variable sets and access of teams are lost.",
};

function Removal({ project, org }: { readonly project: Resource; readonly org: string }) {
	const filled = (number(project, "workspace-count") ?? 0) > 0 ? "it has workspaces: move or delete them first" : undefined;
	const reason = may(project, "can-destroy") ? filled : "you need the permission to delete this project";
	const done = () => navigate(pathTo("/app/:org/workspaces", { org }), true);
	return (
		<section aria-labelledby="delete">
			<h2 id="delete">Delete</h2>
			<DialogButton
				kind="danger"
				reason={reason}
				dialog={(close) => <RemoveDialog kind={kind} item={project} onDone={done} onClose={close} />}
			>
				Delete project
			</DialogButton>
		</section>
	);
}

// The settings of a project: its attributes, access of teams, its removal.
export default function ProjectSettings({ params }: PageProps) {
	const { org = "", project: id = "" } = params;
	const document = useDocument(address(kind.item(id)));
	const project = document.item;
	const name = text(project, "name") || id;
	useTitle(["Settings", name, org]);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: name, href: pathTo("/app/:org/projects/:project", { org, project: id }) },
					{ word: "Settings" },
				]}
			/>
			<h1 tabIndex={-1}>Settings of {name}</h1>
			<Content of={document}>
				{() =>
					project && (
						<>
							<SettingsForm
								kind={kind}
								item={project}
								reason={may(project, "can-update") ? undefined : "you need the permission to change this project"}
							/>
							<h2>Maintenance windows</h2>
							<MaintenanceWindows
								path={kind.item(id)}
								reason={may(project, "can-update") ? undefined : "you need the permission to change this project"}
								intro="When applies may start, in workspaces of the project without windows of their own. Without any, those of the organization apply."
							/>
							{may(project, "can-read-teams") && <ProjectAccess org={org} project={project} />}
							<Removal project={project} org={org} />
						</>
					)
				}
			</Content>
		</>
	);
}
