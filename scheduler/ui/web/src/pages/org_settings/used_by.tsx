// SPDX-License-Identifier: MPL-2.0
// Where a set of policies or variables is used.

import type { Column } from "../../components/table.tsx";
import { counted } from "../../core/format.ts";
import { flag, number, type Resource } from "../../core/resource.ts";
import { byPath, type Linked, RelationList } from "./relation_list.tsx";

export const usedBy: Column = {
	key: "used",
	head: "Used by",
	cell: (item) =>
		flag(item, "global")
			? "All workspaces"
			: `${counted(number(item, "workspace-count") ?? 0, "workspace")}, ${counted(number(item, "project-count") ?? 0, "project")}`,
};

type Props = {
	readonly item: Resource;
	readonly path: string; // of the set
	readonly places: readonly Linked[];
	readonly reason: string | undefined;
	readonly onDone: () => Promise<void>;
};

// The relations of a set, each with Add and Remove.
export function Places({ item, path, places, reason, onDone }: Props) {
	return places.map((linked) => (
		<RelationList
			key={linked.relation}
			item={item}
			linked={linked}
			change={byPath(`${path}/relationships/${linked.relation}`, linked.type)}
			empty="None."
			reason={reason}
			onDone={onDone}
		/>
	));
}
