// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { ObjectPages } from "./object_page.tsx";
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

function Variables({ set, reason }: { readonly set: Resource; readonly reason: string | undefined }) {
	const path = `${kind.item(set.id)}/relationships/vars`;
	const variables = variableKind(path, { one: "variable", many: "Variables", empty: "No variables." });
	return <ObjectList kind={variables} url={address(path, { "page[size]": 100 })} createPath={path} reason={reason} heading />;
}

export default function VariableSets({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="variable-sets"
			intro="Changes affect runs that are created later."
			kind={kind}
			below="/varsets"
			right="can-manage-varsets"
			what="manage variable sets"
			include="workspaces,projects"
		>
			{({ view, item: set, reason, onDone }) => (
				<>
					<Variables set={set} reason={reason} />
					{!flag(set, "global") && (
						<Places
							item={set}
							path={kind.item(set.id)}
							places={[workspacesOf(view.path), projectsOf(view.path)]}
							reason={reason}
							onDone={onDone}
						/>
					)}
				</>
			)}
		</ObjectPages>
	);
}
