// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useQuery } from "../../core/hooks.ts";
import { flag, number, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { ObjectPage } from "./object_page.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";
import { Places, usedBy } from "./used_by.tsx";
import { variableKind } from "./variable_kind.tsx";
import { projectsOf, workspacesOf } from "./words.ts";

const kind: ObjectKind = {
	type: "varsets",
	one: "variable set",
	many: "Variable sets",
	empty: "No variable sets. A set gives the same variables to several workspaces.",
	name: (item) => text(item, "name"),
	item: (id) => `/varsets/${segment(id)}`,
	opens: true,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "description", label: "Description", kind: "text" },
		{ name: "global", label: "Use it in all workspaces", kind: "flag" },
		{ name: "priority", label: "Priority: its values win over those of workspaces", kind: "flag" },
	],
	columns: [
		{ key: "variables", head: "Variables", class: "wide number", cell: (item) => count(number(item, "var-count") ?? 0) },
		usedBy,
		{ key: "priority", head: "Priority", class: "wide", cell: (item) => (flag(item, "priority") ? "Yes" : "No") },
	],
	removes: "Later runs of its workspaces do not have its variables.",
};

export default function VariableSets({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="variable-sets" intro="Changes affect runs that are created later.">
			{(view) => <SetList view={view} />}
		</SettingsFrame>
	);
}

function SetList({ view }: { readonly view: OrganizationView }) {
	const query = useQuery();
	const id = query.get("id");
	const reason = without(view, "can-manage-varsets", "manage variable sets");
	const path = `${view.path}/varsets`;
	if (!id) {
		return (
			<ObjectList kind={kind} url={address(path, { "page[number]": query.get("page") ?? undefined })} createPath={path} reason={reason} />
		);
	}
	const variables = `${kind.item(id)}/relationships/vars`;
	return (
		<ObjectPage key={id} kind={kind} id={id} include="workspaces,projects" reason={reason}>
			{(set, of) => (
				<>
					<ObjectList
						kind={variableKind(variables, { one: "variable", many: "Variables", empty: "No variables." })}
						url={address(variables, { "page[size]": 100 })}
						createPath={variables}
						reason={reason}
						heading
					/>
					{!flag(set, "global") && (
						<Places
							item={set}
							path={kind.item(id)}
							places={[workspacesOf(view.path), projectsOf(view.path)]}
							reason={reason}
							onDone={of.reload}
						/>
					)}
				</>
			)}
		</ObjectPage>
	);
}
