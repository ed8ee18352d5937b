// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useQuery } from "../../core/hooks.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { repositoryOf } from "../../vcs/repository.ts";
import { PolicySource } from "../vcs/policy_source.tsx";
import { ObjectPage } from "./object_page.tsx";
import type { Linked } from "./relation_list.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";
import { Places, usedBy } from "./used_by.tsx";
import { variableKind } from "./variable_kind.tsx";
import { policyKinds, projectsOf, wordOf, workspacesOf } from "./words.ts";

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

export default function PolicySets({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="policy-sets">
			{(view) => <SetList view={view} />}
		</SettingsFrame>
	);
}

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

function SetList({ view }: { readonly view: OrganizationView }) {
	const query = useQuery();
	const id = query.get("id");
	const reason = without(view, "can-update-sentinel", "manage policies");
	const path = `${view.path}/policy-sets`;
	if (!id) {
		return (
			<ObjectList kind={kind} url={address(path, { "page[number]": query.get("page") ?? undefined })} createPath={path} reason={reason} />
		);
	}
	const parameters = `${kind.item(id)}/parameters`;
	const parameterKind = variableKind(parameters, { one: "parameter", many: "Parameters", empty: "No parameters." });
	const fields = parameterKind.fields.filter((field) => !["hcl", "description", "category"].includes(field.name));
	const columns = parameterKind.columns.filter((column) => column.key !== "category");
	return (
		<ObjectPage
			key={id}
			kind={kind}
			id={id}
			include="policies,workspaces,workspace_exclusions,projects,project_exclusions,newest_version"
			reason={reason}
			fieldsOf={(set) => (text(set, "kind") === "sentinel" ? kind.fields.filter((field) => field.name !== "overridable") : kind.fields)}
		>
			{(set, of) => (
				<>
					<PolicySource org={view.org} set={set} reason={reason} onDone={of.reload} />
					<Places item={set} path={kind.item(id)} places={linkedOf(view, set)} reason={reason} onDone={of.reload} />
					<ObjectList
						kind={{ ...parameterKind, fields, columns }}
						url={address(parameters, { "page[size]": 100 })}
						createPath={parameters}
						reason={reason}
						heading
					/>
				</>
			)}
		</ObjectPage>
	);
}
