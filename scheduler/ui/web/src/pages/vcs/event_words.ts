// SPDX-License-Identifier: MPL-2.0
// What happened in a repository, in words. All texts of an event come from its provider.

import { firstLine } from "../../core/format.ts";
import { isObject, list, type Members, number, type Resource, text, textIn } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";
import type { CommitRef } from "../../vcs/commit.ts";

const kinds: Readonly<Record<string, string>> = {
	push: "Push",
	branch_delete: "Branch deleted",
	tag: "Tag",
	tag_delete: "Tag deleted",
	pr_open: "Pull request opened",
	pr_update: "Pull request updated",
	pr_close: "Pull request closed",
	install: "App installation changed",
	rename: "Repository renamed or changed",
	ping: "Test of the webhook",
	rerun: "Check run requested again",
};

export function kindWord(kind: string): string {
	return kinds[kind] ?? kind;
}

const finders: Readonly<Record<string, string>> = {
	webhook: "by its webhook",
	poll: "by a look at the repository",
	request: "by a user's request",
};

export function foundWord(found: string): string {
	return finders[found] ?? found;
}

const states: Readonly<Record<string, readonly [Tone, string]>> = {
	waiting: ["running", "Received"],
	looking: ["running", "Comparing with the repository"],
	comparing: ["running", "Reading the changed files"],
	approval: ["wait", "Needs approval"],
	done: ["success", "Done"],
};

// stateOf: how far the event is. An error is told by its level.
export function stateOf(event: Resource): readonly [Tone, string] {
	if (text(event, "level") === "error") {
		return ["failure", "Error"];
	}
	return states[text(event, "state")] ?? ["muted", text(event, "state")];
}

// refName: a branch or tag without refs/heads/ or refs/tags/.
export function refName(ref: string): string {
	return ref.replace(/^refs\/(heads|tags)\//, "");
}

function refOf(event: Resource): CommitRef | undefined {
	const pull = number(event, "pull-request-number");
	const name = refName(text(event, "ref"));
	if (pull) {
		return { kind: "pull request", name: `#${pull}`, href: text(event, "pull-request-url") };
	}
	return name ? { kind: text(event, "kind").startsWith("tag") ? "tag" : "branch", name, href: "" } : undefined;
}

export function eventOf(event: Resource) {
	return {
		kind: text(event, "kind"),
		what: kindWord(text(event, "kind")), // "Push", "Pull request opened"
		ref: refOf(event),
		sha: text(event, "commit-sha"), // "": none
		commitHref: text(event, "commit-url"),
		subject: text(event, "pull-request-title") || firstLine(text(event, "commit-message")),
		sender: text(event, "sender-username"),
		repository: text(event, "identifier"),
		level: text(event, "level") === "error" ? "error" : "info",
		message: text(event, "message"), // of the scheduler: the result, or the error
	};
}

const types: readonly (readonly [string, Outcome["type"]])[] = [
	["polset-", "policy-sets"],
	["mod-", "registry-modules"],
];

// One result of the event: in a workspace, in a policy set, or as tests of a module.
export type Outcome = {
	readonly id: string; // of the workspace, the policy set or the module
	readonly type: "workspaces" | "policy-sets" | "registry-modules";
	readonly name: string;
	readonly reason: string; // a name of the scheduler's table
	readonly sentence: string;
	readonly run: string; // "": none; of a module, a test run
};

function outcomeOf(values: Members): Outcome {
	const id = textIn(values, "subject-id");
	const type = types.find(([prefix]) => id.startsWith(prefix))?.[1] ?? "workspaces";
	const reason = textIn(values, "reason");
	return {
		id,
		type,
		name: textIn(values, "name") || id,
		reason,
		sentence: textIn(values, "message") || reason,
		run: textIn(values, "run-id"),
	};
}

// outcomesOf: those with a run first.
export function outcomesOf(event: Resource): readonly Outcome[] {
	const outcomes = list(event, "outcomes").filter(isObject).map(outcomeOf);
	return [...outcomes.filter(({ run }) => run), ...outcomes.filter(({ run }) => !run)];
}

// needsApproval: a workspace that the user sees waits for the approval of a fork's head.
export function needsApproval(event: Resource): boolean {
	return outcomesOf(event).some(({ reason }) => reason === "fork_approval");
}

// filesOf: the changed files that the event knows, or undefined.
export function filesOf(event: Resource): readonly string[] | undefined {
	const files = event.attributes.files;
	return Array.isArray(files) ? files.filter((file) => typeof file === "string") : undefined;
}
