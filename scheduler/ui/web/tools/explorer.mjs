// SPDX-License-Identifier: MPL-2.0
// Reads the table of the explorer's views, fields and operators and writes it as a TypeScript module.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeChanged } from "./statuses.mjs";

function explorerModule(table) {
	const views = [];
	for (const [, macro, name, rest] of table.matchAll(/^EXPLORER_(VIEW|FIELD|COLUMN|PLACE)\((\w+), (.*)\)$/gm)) {
		const [shown, kind] = rest.split(", ").map((part) => part.replaceAll('"', ""));
		if (macro === "VIEW") {
			views.push({ name, fields: [] });
		} else {
			views.at(-1).fields.push({ name, shown, kind });
		}
	}
	const operators = new Map();
	for (const [, name, kinds] of table.matchAll(/^EXPLORER_OPERATOR\("([a-z_]+)", ([A-Z |]+),/gm)) {
		operators.set(name, [...(operators.get(name) ?? []), ...kinds.split(" | ")]);
	}
	const rows = [...operators].map(([name, kinds]) => ({ name, kinds }));
	return `// Written by tools/explorer.mjs from scheduler/store/explorer/explorer_fields.def.
export type ExplorerField = { readonly name: string; readonly shown: string; readonly kind: string };
export type ExplorerView = { readonly name: string; readonly fields: readonly ExplorerField[] };
export type ExplorerOperator = { readonly name: string; readonly kinds: readonly string[] };
export const explorerViews: readonly ExplorerView[] = ${JSON.stringify(views, null, "\t")};
export const explorerOperators: readonly ExplorerOperator[] = ${JSON.stringify(rows, null, "\t")};
`;
}

export function writeExplorerModule(root, path) {
	writeChanged(path, explorerModule(readFileSync(join(root, "scheduler/store/explorer/explorer_fields.def"), "utf8")));
}
