// SPDX-License-Identifier: MPL-2.0
import { EmptyState } from "../../components/states.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { NewProject } from "../projects/new_project.tsx";
import { cloudBlock } from "./list.ts";
import { NewWorkspace } from "./new_workspace.tsx";
import { WorkspaceList } from "./workspace_list.tsx";

// Two ways to make the first workspace.
export function NoWorkspaces({ org, projects }: { readonly org: string; readonly projects: readonly Resource[] }) {
	return (
		<EmptyState title="No workspaces">
			<p>Add this block to a configuration and run terraform init. It creates the workspace.</p>
			<pre>{cloudBlock(location.host, org)}</pre>
			<p>Or create one here:</p>
			<NewWorkspace org={org} projects={projects} />
		</EmptyState>
	);
}

export default function Workspaces({ params }: PageProps) {
	const org = params.org ?? "";
	const path = `/organizations/${segment(org)}`;
	const organization = useDocument(address(path));
	const projects = useDocument(address(`${path}/projects`, { "page[size]": 100 }));
	useTitle(["Workspaces", org]);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Workspaces" }]} />
			<div class="page-head">
				<h1 tabIndex={-1}>Workspaces</h1>
				<span class="actions">
					<NewProject org={org} organization={organization.item} />
					<NewWorkspace org={org} projects={projects.items} primary />
				</span>
			</div>
			<WorkspaceList org={org} projects={projects.items} empty={<NoWorkspaces org={org} projects={projects.items} />} />
		</>
	);
}
