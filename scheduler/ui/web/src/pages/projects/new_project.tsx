// SPDX-License-Identifier: MPL-2.0

import { segment } from "../../core/api.ts";
import { may, type Resource } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { NewObject } from "../../objects/new_object.tsx";
import type { FormKind } from "../../objects/object_dialog.tsx";

const kind: FormKind = {
	type: "projects",
	one: "project",
	create: "Create project",
	missing: ({ name }) => (name ? undefined : "it needs a name"),
	fields: [
		{ name: "name", label: "Name", kind: "text", longest: 40 },
		{ name: "description", label: "Description", kind: "text" },
	],
};

// Without the permission to create projects it shows nothing.
export function NewProject({ org, organization }: { readonly org: string; readonly organization: Resource | undefined }) {
	return may(organization, "can-create-project") ? (
		<NewObject
			kind={kind}
			path={`/organizations/${segment(org)}/projects`}
			intro="A project groups workspaces. Teams can have access to all workspaces of a project."
			page={(made) => pathTo("/app/:org/projects/:project", { org, project: made.id })}
		/>
	) : null;
}
