// SPDX-License-Identifier: MPL-2.0
// The words of the explorer, and the queries that it offers.

import type { Query } from "./query.ts";

export const typeWords: Readonly<Record<string, readonly [word: string, about: string]>> = {
	workspaces: ["Workspaces", "What workspaces have, use and did last"],
	modules: ["Modules", "Versions of modules, and who uses them"],
	providers: ["Providers", "Versions of providers, and who uses them"],
	tf_versions: ["Terraform versions", "Versions that workspaces are set to"],
	resources: ["Resources", "Resources in all current states"],
	outputs: ["Outputs", "Outputs of all current states, without their values"],
	tags: ["Tags", "Tags and their values"],
	projects: ["Projects", "What the workspaces of a project have and cost"],
};

const operatorWords: Readonly<Record<string, string>> = {
	gt: "is more than",
	lt: "is less than",
	gteq: "is at least",
	lteq: "is at most",
};

export const operatorWord = (operator: string): string => operatorWords[operator] ?? operator.replaceAll("_", " ");

export function fieldWord(name: string): string {
	const words = name.replaceAll("_", " ").replace("external id", "ID").replace("vcs", "VCS").replace("rum", "RUM");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

const query = (type: string, sort: string, columns: string, ...conditions: readonly (readonly [string, string, string])[]): Query => ({
	type,
	sort,
	columns: columns ? columns.split(" ") : [],
	conditions: conditions.map(([field, operator, value]) => ({ field, operator, value })),
});

const runs = "workspace_name current_run_status current_run_applied_at workspace_terraform_version project_name";

export const useCases: readonly (readonly [word: string, query: Query])[] = [
	["Top module versions", query("modules", "-workspace_count", "name version workspace_count source")],
	["Top provider versions", query("providers", "-workspace_count", "name version workspace_count source")],
	["Latest Terraform versions", query("tf_versions", "-version", "version workspace_count workspaces")],
	["Top Terraform versions", query("tf_versions", "-workspace_count", "version workspace_count workspaces")],
	["Workspaces without VCS", query("workspaces", "workspace_name", runs, ["vcs_repo_identifier", "is_empty", ""])],
	[
		"Workspace VCS source",
		query("workspaces", "vcs_repo_identifier", `workspace_name vcs_repo_identifier project_name`, [
			"vcs_repo_identifier",
			"is_not_empty",
			"",
		]),
	],
	["Workspaces that failed their last run", query("workspaces", "workspace_name", runs, ["current_run_status", "is", "errored"])],
	[
		"Workspaces with failed checks",
		query("workspaces", "-checks_failed", "workspace_name checks_failed checks_errored checks_passed", ["checks_failed", "gt", "0"]),
	],
	[
		"Drifted workspaces",
		query("workspaces", "-resources_drifted", "workspace_name resources_drifted resources_undrifted", ["drifted", "is", "true"]),
	],
	[
		"All workspace versions",
		query("workspaces", "workspace_name", "workspace_name current_run_status workspace_terraform_version state_version_terraform_version"),
	],
	["Runs by status", query("workspaces", "current_run_status", runs)],
	[
		"Latest updated workspaces",
		query("workspaces", "-workspace_updated_at", "workspace_name workspace_updated_at current_run_status project_name"),
	],
	["Oldest applied workspaces", query("workspaces", "current_run_applied_at", runs, ["current_run_applied_at", "is_not_empty", ""])],
	[
		"Workspaces without a run for 90 days",
		query("workspaces", "-days_without_run", "workspace_name days_without_run resource_count project_name", [
			"days_without_run",
			"gteq",
			"90",
		]),
	],
	["Largest states", query("workspaces", "-state_size", "workspace_name state_size resource_count project_name")],
	["Cost by project", query("projects", "-monthly_cost", "name monthly_cost workspace_count resource_count")],
];
