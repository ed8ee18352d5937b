// SPDX-License-Identifier: MPL-2.0
// Where a workspace takes its configuration from, and which commits start runs: the values of the form, and the request.

import { flag, object, type Resource, text, texts } from "../../core/resource.ts";
import { repositoryOf } from "../../vcs/repository.ts";

// When a commit starts a run. The API has four attributes for it, of which some exclude each other.
export type Trigger = "always" | "folders" | "patterns" | "tags";

export const triggers: readonly (readonly [Trigger, string])[] = [
	["always", "Each push to the branch"],
	["folders", "Pushes that change the working directory or other folders"],
	["patterns", "Pushes that change files which match patterns"],
	["tags", "Tags whose name matches, and no pushes"],
];

export type RepositoryValues = ReturnType<typeof valuesOf>;

export function isConnected(workspace: Resource): boolean {
	return repositoryOf(workspace).identifier !== "";
}

function triggerOf(workspace: Resource, tags: string): Trigger {
	if (tags) {
		return "tags";
	}
	if (workspace.attributes["file-triggers-enabled"] === false) {
		return "always";
	}
	if (texts(workspace, "trigger-patterns").length > 0) {
		return "patterns";
	}
	const folders = texts(workspace, "trigger-prefixes").length > 0 || text(workspace, "working-directory") !== "";
	return folders || isConnected(workspace) ? "folders" : "always";
}

export function valuesOf(workspace: Resource) {
	const { connection, identifier, branch, submodules, tags } = repositoryOf(workspace);
	return {
		connection, // the id of an oauth-token or of a github-app-installation
		identifier,
		branch, // "": the default branch
		submodules,
		trigger: triggerOf(workspace, tags),
		folders: texts(workspace, "trigger-prefixes"),
		patterns: texts(workspace, "trigger-patterns"),
		tags,
		speculative: flag(workspace, "speculative-enabled"),
		newestOnly: flag(workspace, "vcs-newest-only"),
		skipDrafts: flag(workspace, "vcs-skip-drafts"),
		forkPlans: flag(workspace, "vcs-fork-plans"),
		firstRun: flag(workspace, "queue-all-runs"),
	};
}

const isInstallation = (id: string) => id.startsWith("ghain-");

// connectionSent: the members of vcs-repo that name the connection.
export function connectionSent(id: string): Record<string, unknown> {
	return isInstallation(id)
		? { "github-app-installation-id": id, "oauth-token-id": "" }
		: { "oauth-token-id": id, "github-app-installation-id": "" };
}

function repositorySent(values: RepositoryValues): Record<string, unknown> {
	return {
		...connectionSent(values.connection),
		identifier: values.identifier.trim(),
		branch: values.branch.trim(),
		"ingress-submodules": values.submodules,
		"tags-regex": values.trigger === "tags" ? values.tags.trim() : "",
	};
}

// lines: the trimmed lines, without empty ones.
export const lines = (list: readonly string[]) => list.map((line) => line.trim()).filter(Boolean);

function workspaceSent(values: RepositoryValues): Record<string, unknown> {
	return {
		"file-triggers-enabled": values.trigger === "folders" || values.trigger === "patterns",
		"trigger-prefixes": values.trigger === "folders" ? lines(values.folders) : [],
		"trigger-patterns": values.trigger === "patterns" ? lines(values.patterns) : [],
		"speculative-enabled": values.speculative,
		"vcs-newest-only": values.newestOnly,
		"vcs-skip-drafts": values.skipDrafts,
		"vcs-fork-plans": values.forkPlans,
		"queue-all-runs": values.firstRun,
	};
}

const empties: readonly unknown[] = [undefined, null, "", false];

function changed(sent: Record<string, unknown>, now: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const same = (name: string, value: unknown) => {
		const before = now[name];
		const empty = empties.includes(before) || (Array.isArray(before) && before.length === 0);
		return empty
			? empties.includes(value) || (Array.isArray(value) && value.length === 0)
			: JSON.stringify(before) === JSON.stringify(value);
	};
	return Object.fromEntries(Object.entries(sent).filter(([name, value]) => !same(name, value)));
}

// attributesOf: what differs from the workspace. Trigger attributes that another choice excludes are emptied with it.
export function attributesOf(values: RepositoryValues, workspace: Resource): Record<string, unknown> {
	const now = object(workspace, "vcs-repo");
	const repository = changed(repositorySent(values), now);
	const connects = "oauth-token-id" in repository || "github-app-installation-id" in repository;
	const attributes = changed(workspaceSent(values), workspace.attributes);
	if (Object.keys(repository).length === 0) {
		return attributes;
	}
	return { ...attributes, "vcs-repo": { ...repository, ...(connects && connectionSent(values.connection)) } };
}

// missing: why the values can't be saved, or undefined.
export function missing(values: RepositoryValues): string | undefined {
	if (!values.connection) {
		return "choose a connection";
	}
	if (!values.identifier.trim()) {
		return "choose a repository";
	}
	if (values.trigger === "tags" && !values.tags.trim()) {
		return "enter a regular expression for the tags";
	}
	return values.trigger === "patterns" && lines(values.patterns).length === 0 ? "enter a pattern" : undefined;
}
