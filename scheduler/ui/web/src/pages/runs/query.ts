// SPDX-License-Identifier: MPL-2.0
// The filters of lists of runs, from the query of the page's address.

import { runStatuses } from "generated/statuses";
import type { Parameters } from "../../core/api.ts";
import { workspaceGroups } from "../../core/status.ts";

export type RunGroup = { readonly key: string; readonly word: string; readonly names: readonly string[] };

export const runGroups: readonly RunGroup[] = [
	...workspaceGroups,
	{ key: "stopped", word: "Discarded, canceled", names: ["discarded", "canceled", "force_canceled"] },
];

const statusGroups: readonly (readonly [string, string])[] = [
	["non_final", "In progress"],
	["final", "Ended"],
	["discardable", "Can be discarded"],
];

// Statuses with the same word are one choice.
function statusChoices(): readonly (readonly [string, string])[] {
	const names = new Map<string, string[]>();
	for (const row of runStatuses) {
		names.set(row.label, [...(names.get(row.label) ?? []), row.name]);
	}
	return [...names].map(([label, list]) => [list.join(","), label]);
}

const anyStatus: readonly [string, string] = ["", "Any status"];

export const statusOptions: readonly (readonly [string, string])[] = [
	anyStatus,
	...statusGroups,
	...runGroups.map((group) => [group.key, group.word] as const),
	...statusChoices(),
].filter(([value], i, all) => all.findIndex(([other]) => other === value) === i);

export const operations: readonly (readonly [string, string])[] = [
	["plan_and_apply", "Plan and apply"],
	["plan_only", "Plan only"],
	["refresh_only", "Refresh only"],
	["destroy", "Destroy"],
	["empty_apply", "Allow empty apply"],
	["save_plan", "Saved plan"],
];

export const sources: readonly (readonly [string, string])[] = [
	["tfe-ui", "Web UI"],
	["tfe-api", "API"],
	["terraform+cloud", "CLI"],
	["tfe-configuration-version", "Commit or uploaded configuration"],
	["tfe-run-trigger", "Run trigger"],
	["tfe-infrastructure-lifecycle", "Automatic destroy"],
	["runyard-schedule", "Schedule"],
];

export function sourceWord(source: string): string {
	return sources.find(([name]) => name === source)?.[1] ?? source;
}

const known = new Set(statusOptions.map(([value]) => value));

// statusFilter: ?status= is the key of a chip, a status group of the API, or statuses.
function statusFilter(value: string): Parameters {
	if (!value || !known.has(value)) {
		return {};
	}
	if (statusGroups.some(([group]) => group === value)) {
		return { "filter[status_group]": value };
	}
	return { "filter[status]": runGroups.find((group) => group.key === value)?.names.join(",") ?? value };
}

export const filterNames = ["status", "operation", "source", "q", "workspace"];

// searchFilter: user:NAME and commit:SHA search only there, and replace the search in all texts, as in the API.
function searchFilter(query: string): Parameters {
	const words = query.split(/\s+/).filter(Boolean);
	const of = (prefix: string) => words.find((word) => word.startsWith(prefix))?.slice(prefix.length);
	const user = of("user:");
	const commit = of("commit:");
	return user || commit ? { "search[user]": user, "search[commit]": commit } : { "search[basic]": query.trim() || undefined };
}

// The list would leave out plan-only runs, so all operations are named.
export function runFilter(query: URLSearchParams): Parameters {
	return {
		...statusFilter(query.get("status") ?? ""),
		"filter[operation]": query.get("operation") || operations.map(([name]) => name).join(","),
		"filter[source]": query.get("source") ?? undefined,
		"filter[workspace_names]": query.get("workspace") ?? undefined,
		...searchFilter(query.get("q") ?? ""),
		"page[number]": query.get("page") ?? undefined,
		"page[size]": 30,
	};
}

// Statuses in which a run can wait for a person. The run's actions and permissions tell whether it does.
export const personStatuses = [
	"planned",
	"policy_override",
	"planned_and_saved",
	"cost_estimated",
	"policy_checked",
	"post_plan_completed",
	"post_plan_running",
].join(",");
