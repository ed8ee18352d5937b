// SPDX-License-Identifier: MPL-2.0
import { Content, EmptyState } from "../../components/states.tsx";
import { address, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { useDocument } from "../../core/hooks.ts";
import { number, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { NewWorkspace } from "../workspaces/new_workspace.tsx";
import { WorkspaceList } from "../workspaces/workspace_list.tsx";

// A project: its workspaces.
export default function Project({ params }: PageProps) {
	const { org = "", project: id = "" } = params;
	const document = useDocument(address(`/projects/${segment(id)}`));
	const project = document.item;
	const name = text(project, "name");
	useTitle([name || "Project", org]);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: name || id }]} />
			<Content of={document}>
				{() =>
					project && (
						<>
							<div class="page-head">
								<h1 tabIndex={-1}>{name}</h1>
								<NewWorkspace org={org} projects={[project]} project={id} primary />
							</div>
							{text(project, "description") && <p>{text(project, "description")}</p>}
							<p class="muted">{counted(number(project, "workspace-count") ?? 0, "workspace")} in this project</p>
							<WorkspaceList
								org={org}
								project={id}
								empty={
									<EmptyState title="No workspaces in this project">
										<p>Create one, or move one here in its settings.</p>
									</EmptyState>
								}
							/>
						</>
					)
				}
			</Content>
		</>
	);
}
