// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { type ObjectKind, wordOf } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { repositoryOf } from "../../vcs/repository.ts";
import { PolicySource } from "../vcs/policy_source.tsx";
import { ObjectPages } from "./object_page.tsx";
import type { Linked } from "./relation_list.tsx";
import type { OrganizationView } from "./settings_frame.tsx";
import { Places, usedBy } from "./used_by.tsx";
import { variableKind } from "./variable_kind.tsx";
import { policyKinds, projectsOf, workspacesOf } from "./words.ts";

const kind: ObjectKind = {
	type: "policy-sets",
	one: "policy set",
	many: "Policy sets",
	empty: "No policy sets. A set says which policies check the plans of which workspaces.",
	name: (item) => text(item, "name"),
	item: (id) => `/policy-sets/${segment(id)}`,
	opens: true,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "description", label: "Description", kind: "text" },
		{ name: "kind", label: "Language", kind: "choice", options: policyKinds, initial: "opa", only: "create" },
		{ name: "global", label: "Use it in all workspaces", kind: "flag" },
		{
			name: "overridable",
			label: "People may override failures of mandatory policies",
			kind: "flag",
			shown: (values) => values.kind !== "sentinel",
		},
	],
	columns: [
		{ key: "kind", head: "Language", cell: (item) => wordOf(policyKinds, text(item, "kind")) },
		{ key: "policies", head: "Policies", class: "wide number", cell: (item) => count(number(item, "policy-count") ?? 0) },
		usedBy,
	],
	removes: "Its policies no longer check runs. The policies stay.",
};

function linkedOf(view: OrganizationView, set: Resource): readonly Linked[] {
	const policies = {
		relation: "policies",
		type: "policies",
		one: "policy",
		many: "Policies",
		listPath: `${view.path}/policies`,
		search: "search[name]",
	};
	const places = flag(set, "global")
		? [
				workspacesOf(view.path, "workspace-exclusions", "Workspaces without it"),
				projectsOf(view.path, "project-exclusions", "Projects without it"),
			]
		: [workspacesOf(view.path), projectsOf(view.path)];
	return flag(set, "versioned") || repositoryOf(set).identifier ? places : [policies, ...places];
}

function Parameters({ set, reason }: { readonly set: Resource; readonly reason: string | undefined }) {
	const path = `${kind.item(set.id)}/parameters`;
	const all = variableKind(path, { one: "parameter", many: "Parameters", empty: "No parameters." });
	const fields = all.fields.filter((field) => !["hcl", "description", "category"].includes(field.name));
	const columns = all.columns.filter((column) => column.key !== "category");
	return (
		<ObjectList kind={{ ...all, fields, columns }} url={address(path, { "page[size]": 100 })} createPath={path} reason={reason} heading />
	);
}

export default function PolicySets({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="policy-sets"
			kind={kind}
			below="/policy-sets"
			right="can-update-sentinel"
			what="manage policies"
			include="policies,workspaces,workspace_exclusions,projects,project_exclusions,newest_version"
			fieldsOf={(set) => (text(set, "kind") === "sentinel" ? kind.fields.filter((field) => field.name !== "overridable") : kind.fields)}
		>
			{({ view, item: set, reason, onDone }) => (
				<>
					<PolicySource org={view.org} set={set} reason={reason} onDone={onDone} />
					<Places item={set} path={kind.item(set.id)} places={linkedOf(view, set)} reason={reason} onDone={onDone} />
					<Parameters set={set} reason={reason} />
				</>
			)}
		</ObjectPages>
	);
}
