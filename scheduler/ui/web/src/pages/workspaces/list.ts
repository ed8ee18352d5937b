// SPDX-License-Identifier: MPL-2.0
// The search, the order and the counts of the list of workspaces.

import type { Parameters } from "../../core/api.ts";
import { object, type Resource, text } from "../../core/resource.ts";
import { statusTone, statusWord, workspaceGroups } from "../../core/status.ts";
import { searchParts, tagFilters } from "../../objects/tag_search.ts";

// The orders of the list, by the value of ?sort= and of the API.
const sorts = ["name", "latest-change-at", "current-run.created-at"];

export function sortOf(wanted: string): string | undefined {
	return sorts.includes(wanted.replace(/^-/, "")) ? wanted : undefined;
}

// searchOf: tags (objects/tag_search.ts); the rest is a part of the name.
export function searchOf(query: string): Parameters {
	const { words, tags } = searchParts(query);
	return { ...(words && { "search[name]": words }), ...tagFilters(tags) };
}

// The filters by the current assessment, by the value of ?health= and of the API.
export const healthFilters: readonly (readonly [value: string, word: string])[] = [
	["", "Any health"],
	["drifted,checks-failed", "Health warning"],
	["drifted", "Drift"],
	["checks-failed", "Checks failed"],
	["failed", "Assessment failed"],
	["healthy", "Healthy"],
];

// groupCounts: the number of workspaces of each chip, by key; "" is all.
export function groupCounts(counts: Resource | undefined): Readonly<Record<string, number>> {
	if (!counts) {
		return {};
	}
	const statuses = object(counts, "statuses");
	const numberOf = (name: string) => (typeof statuses[name] === "number" ? (statuses[name] as number) : 0);
	const groups = workspaceGroups.map((group) => [group.key, group.names.reduce((sum, name) => sum + numberOf(name), 0)] as const);
	return { "": Number(counts.attributes.total ?? 0), ...Object.fromEntries(groups) };
}

export type RecentRun = { readonly id: string; readonly status: string };

// recentRuns: the last runs, the oldest first.
export function recentRuns(recent: Resource | undefined): readonly RecentRun[] {
	const runs = recent?.attributes.runs;
	return Array.isArray(runs) ? [...(runs as RecentRun[])].reverse() : [];
}

// recentText: "Last 3 runs: 2 Applied, 1 Errored".
export function recentText(runs: readonly RecentRun[]): string {
	const counts = new Map<string, number>();
	for (const run of runs) {
		const word = statusWord(run.status);
		counts.set(word, (counts.get(word) ?? 0) + 1);
	}
	const parts = [...counts].map(([word, count]) => `${count} ${word}`);
	return `${runs.length === 1 ? "Last run" : `Last ${runs.length} runs`}: ${parts.join(", ")}`;
}

export function barTone(run: RecentRun): string {
	return statusTone(run.status);
}

// refusedBy: why an action is not possible for what is selected: the names of those without the right.
export function refusedBy(workspaces: readonly Resource[], allowed: (workspace: Resource) => boolean, why: string): string | undefined {
	const names = workspaces.filter((workspace) => !allowed(workspace)).map((workspace) => text(workspace, "name"));
	return names.length > 0 ? `${why}: ${names.join(", ")}` : undefined;
}

export function cloudBlock(host: string, org: string): string {
	return `terraform {\n  cloud {\n    hostname     = "${host}"\n    organization = "${org}"\n    workspaces {\n      name = "example"\n    }\n  }\n}`;
}
