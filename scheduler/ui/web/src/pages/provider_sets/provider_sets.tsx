// SPDX-License-Identifier: MPL-2.0
import { segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { flag, linksOf, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectPages } from "../org_settings/object_page.tsx";
import { Places } from "../org_settings/used_by.tsx";
import { projectsOf, workspacesOf } from "../org_settings/words.ts";

const kind: ObjectKind = {
	type: "provider-sets",
	one: "provider set",
	many: "Provider sets",
	empty: "No provider sets. A set configures a provider for workspaces that were made from modules.",
	name: (item) => text(item, "name"),
	item: (id) => `/provider-sets/${segment(id)}`,
	opens: true,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "description", label: "Description", kind: "text" },
		{ name: "global", label: "Use it in all workspaces from no-code modules", kind: "flag" },
		{ name: "priority", label: "High priority: it wins over sets of projects and workspaces", kind: "flag" },
		{ name: "provider-source", label: "Provider source", kind: "text", hint: "Such as registry.terraform.io/hashicorp/aws." },
		{ name: "configuration-hcl", label: "Configuration", kind: "long", hint: 'One block: provider "NAME" { ... }' },
	],
	columns: [
		{ key: "source", head: "Provider", class: "wide", cell: (item) => <bdi>{text(item, "provider-source")}</bdi> },
		{
			key: "used",
			head: "Used by",
			cell: (item) =>
				flag(item, "global")
					? "All no-code workspaces"
					: `${counted(linksOf(item, "workspaces").length, "workspace")}, ${counted(linksOf(item, "projects").length, "project")}`,
		},
		{ key: "priority", head: "Priority", class: "wide", cell: (item) => (flag(item, "priority") ? "High" : "Normal") },
	],
	removes: "Later runs of its workspaces lack its configuration. They may fail, destroy runs as well.",
};

export default function ProviderSets({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="provider-sets"
			intro="Changes affect later runs, which may replace resources."
			kind={kind}
			below="/provider-sets"
			right="can-create-project"
			what="manage all projects"
			include="workspaces,projects"
		>
			{({ view, item: set, reason, onDone }) =>
				!flag(set, "global") && (
					<Places
						item={set}
						path={kind.item(set.id)}
						places={[workspacesOf(view.path), projectsOf(view.path)]}
						reason={reason}
						onDone={onDone}
					/>
				)
			}
		</ObjectPages>
	);
}
