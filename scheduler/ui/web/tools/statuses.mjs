// SPDX-License-Identifier: MPL-2.0
// Reads the tables of run statuses and stages and writes them as a TypeScript module.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

// rows(text, macro): the arguments of each MACRO(...) line. Quotes around texts are removed.
function rows(text, macro) {
	const found = [];
	for (const match of text.matchAll(new RegExp(`^${macro}\\((.*)\\)$`, "gm"))) {
		found.push([...match[1].matchAll(/"([^"]*)"|([^\s,]+)/g)].map((part) => part[1] ?? part[2]));
	}
	if (found.length === 0) {
		throw new Error(`no ${macro} rows`);
	}
	return found;
}

export function statusModule(statusTable, stageTable) {
	const names = new Map();
	const statuses = rows(statusTable, "RUN_STATUS").map(([symbol, name, timestamp, label, group]) => {
		names.set(symbol, name);
		return { name, timestamp, label, group: group.toLowerCase() };
	});
	const stages = rows(stageTable, "STAGE").map(([, name, waits, runs, rests]) => ({
		name,
		waits: names.get(waits),
		runs: names.get(runs),
		rests: names.get(rests),
	}));
	return `// Written by tools/statuses.mjs from proto/run_status.def and proto/stages.def.
export type StatusGroup = "open" | "parked" | "final";
export type RunStatusRow = { readonly name: string; readonly timestamp: string; readonly label: string; readonly group: StatusGroup };
export type StageRow = { readonly name: string; readonly waits: string; readonly runs: string; readonly rests: string };
export const runStatuses: readonly RunStatusRow[] = ${JSON.stringify(statuses, null, "\t")};
export const stages: readonly StageRow[] = ${JSON.stringify(stages, null, "\t")};
`;
}

// writeChanged writes the file unless it has that text already.
export function writeChanged(path, text) {
	mkdirSync(dirname(path), { recursive: true });
	let old = "";
	try {
		old = readFileSync(path, "utf8");
	} catch {}
	if (old !== text) {
		writeFileSync(path, text);
	}
}

export function writeStatusModule(root, path) {
	const read = (name) => readFileSync(join(root, "proto", name), "utf8");
	writeChanged(path, statusModule(read("run_status.def"), read("stages.def")));
}
