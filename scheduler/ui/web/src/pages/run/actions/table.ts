// SPDX-License-Identifier: MPL-2.0
// The actions on a run: when each is offered, what it needs, and how it is sent.

import { address, change, segment } from "../../../core/api.ts";
import { timeOf } from "../../../core/format.ts";
import { can, flag, linkOf, may, type Resource, text } from "../../../core/resource.ts";
import { isFinal } from "../../../core/status.ts";
import { commitOf } from "../../../vcs/commit.ts";
import { repositoryOf } from "../../../vcs/repository.ts";
import { destroyedBy } from "../destroyed.tsx";
import type { RunView } from "../view.ts";
import { commitAgain, planAgain } from "./again.ts";

export type Input = { readonly comment: string; readonly version: string };

export type Action = {
	readonly key: string;
	readonly word: (view: RunView) => string;
	readonly shown: (view: RunView) => boolean;
	readonly right: (view: RunView) => boolean;
	readonly needed: string; // what a person without the right reads
	readonly kind: (view: RunView) => "plain" | "primary" | "danger";
	readonly comment: "optional" | "required" | "none";
	readonly typedName: (view: RunView) => boolean;
	readonly ofWorkspace?: boolean; // shown at the end of the page only
	readonly send: (view: RunView, input: Input) => Promise<unknown>;
	readonly done: string;
};

export const isPending = (view: RunView) => text(view.run, "status") === "pending";
export const hasEnded = (view: RunView) => isFinal(text(view.run, "status"));
const destroys = (view: RunView) => destroyedBy(view.parts.plan);

function post(view: RunView, action: string, comment: string): Promise<unknown> {
	return change("POST", address(`/runs/${segment(view.run.id)}/actions/${action}`), comment ? { comment } : {});
}

function lockWorkspace(view: RunView, action: string, body?: unknown): Promise<unknown> {
	return change("POST", address(`/workspaces/${segment(view.workspace?.id ?? "")}/actions/${action}`), body);
}

// Returns the policy check of Sentinel or the task stage of OPA, if it can be overridden.
function overridable({ parts }: RunView): { readonly path: string; readonly allowed: boolean } | undefined {
	const { sentinel, postPlan } = parts;
	if (can(sentinel, "is-overridable")) {
		return { path: `/policy-checks/${segment(sentinel?.id ?? "")}/actions/override`, allowed: may(sentinel, "can-override") };
	}
	return can(postPlan, "is-overridable")
		? { path: `/task-stages/${segment(postPlan?.id ?? "")}/actions/override`, allowed: may(postPlan, "can-override") }
		: undefined;
}

// isStopping: after a cancel. Force Cancel is possible from force-cancel-available-at on.
export function isStopping({ run }: RunView): boolean {
	return (
		can(run, "is-force-cancelable") || (timeOf(run.attributes["force-cancel-available-at"]) !== undefined && !isFinal(text(run, "status")))
	);
}

// forceCancelWait: milliseconds until Force Cancel is possible. The API tells when it is; this browser's clock may be wrong.
export function forceCancelWait(run: Resource, now: number): number {
	return can(run, "is-force-cancelable") ? 0 : Math.max((timeOf(run.attributes["force-cancel-available-at"]) ?? 0) - now, 0);
}

const lockedByPerson = (view: RunView) => flag(view.workspace, "locked") && linkOf(view.workspace, "locked-by")?.type !== "runs";

// The defaults of actions.
const simple = { kind: () => "plain" as const, comment: "none", typedName: () => false } as const;

// An action of the API on the run, with the right of the same name.
function ofRun(name: string) {
	return {
		...simple,
		right: (view: RunView) => may(view.run, `can-${name}`),
		needed: `you may not ${name} runs of this workspace`,
		comment: "optional" as const,
		send: (view: RunView, { comment }: Input) => post(view, name, comment),
	};
}

export const actions: readonly Action[] = [
	{
		...ofRun("apply"),
		key: "apply",
		word: (view) => (destroys(view) > 0 ? `Apply, destroying ${destroys(view)}` : "Confirm & Apply"),
		shown: (view) => can(view.run, "is-confirmable"),
		kind: (view) => (destroys(view) > 0 ? "danger" : "primary"),
		typedName: (view) => flag(view.run, "is-destroy"),
		done: "The apply is confirmed",
	},
	{
		...simple,
		key: "override",
		word: () => "Override Policy",
		shown: (view) => overridable(view) !== undefined,
		right: (view) => overridable(view)?.allowed ?? false,
		needed: "you may not override policies",
		comment: "required",
		send: (view, { comment }) => change("POST", address(overridable(view)?.path ?? ""), { comment }),
		done: "The failure is overridden",
	},
	{
		...simple,
		key: "override-window",
		word: () => "Apply outside of the window",
		shown: (view) => can(view.run, "is-window-overridable"),
		right: (view) => may(view.run, "can-apply"),
		needed: "you may not apply runs of this workspace",
		comment: "optional",
		send: (view, { comment }) => post(view, "override-window", comment),
		done: "The apply starts",
	},
	{
		...simple,
		key: "execute",
		word: () => "Run this plan now",
		shown: (view) => isPending(view) && may(view.run, "can-force-execute"),
		right: () => true,
		needed: "",
		send: (view) => post(view, "force-execute", ""),
		done: "The run starts next",
	},
	{
		...ofRun("discard"),
		key: "discard",
		word: (view) => (isPending(view) ? "Discard run" : "Discard Plan"),
		shown: (view) => can(view.run, "is-discardable"),
		done: "The run is discarded",
	},
	{
		...ofRun("cancel"),
		key: "cancel",
		word: () => "Cancel Run",
		shown: (view) => can(view.run, "is-cancelable"),
		done: "The run is asked to stop",
	},
	{
		...ofRun("force-cancel"),
		key: "force",
		word: () => "Force Cancel",
		shown: isStopping,
		kind: () => "danger",
		typedName: () => true,
		done: "The run is ended",
	},
	{
		...simple,
		key: "again",
		word: () => "Plan again",
		shown: hasEnded,
		right: (view) => may(view.workspace, "can-queue-run"),
		needed: "you may not queue runs in this workspace",
		send: (view, { version }) => planAgain(view, version),
		done: "The run is queued",
	},
	{
		...simple,
		key: "commit",
		word: () => "Run this commit again",
		shown: (view) => hasEnded(view) && commitOf(view.run) !== undefined && repositoryOf(view.workspace).identifier !== "",
		right: (view) => may(view.workspace, "can-queue-run"),
		needed: "you may not queue runs in this workspace",
		send: commitAgain,
		done: "The run is queued",
	},
	{
		...simple,
		key: "lock",
		word: () => "Lock workspace",
		shown: (view) => view.workspace !== undefined && !flag(view.workspace, "locked"),
		right: (view) => may(view.workspace, "can-lock"),
		needed: "you may not lock this workspace",
		comment: "optional",
		ofWorkspace: true,
		send: (view, { comment }) => lockWorkspace(view, "lock", { reason: comment }),
		done: "The workspace is locked",
	},
	{
		...simple,
		key: "unlock",
		word: () => "Unlock workspace",
		shown: lockedByPerson,
		right: (view) => may(view.workspace, "can-unlock"),
		needed: "you may not unlock this workspace",
		ofWorkspace: true,
		send: (view) => lockWorkspace(view, "unlock"),
		done: "The workspace is unlocked",
	},
];
