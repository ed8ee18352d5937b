// SPDX-License-Identifier: MPL-2.0
// The actions on workspaces of a result, but for change requests, which one request creates.

import { modes, type QueueMode } from "../workspace/queue_order.ts";
import { sendLock, sendRun, sendTag, sendVersion, type Target } from "../workspaces/bulk_send.ts";

export type Values = Readonly<Record<string, string>>;

export type ActionField = {
	readonly name: string;
	readonly label: string;
	readonly hint?: string;
	readonly required?: boolean;
	readonly maxLength?: number;
	readonly options?: readonly (readonly [value: string, word: string])[];
};

export type ExplorerAction = {
	readonly word: string; // of the button
	readonly done: string; // "locked"
	readonly fields: readonly ActionField[];
	readonly send: (target: Target, values: Values) => Promise<unknown>;
};

// The most workspaces of one action, which is the API's limit for a change request.
export const maxTargets = 1000;

const runModes: readonly QueueMode[] = ["apply", "plan", "refresh"];

export const explorerActions: readonly ExplorerAction[] = [
	{
		word: "Tag",
		done: "tagged",
		fields: [
			{ name: "key", label: "Key", required: true, maxLength: 128 },
			{ name: "value", label: "Value", hint: "May be empty. It replaces the value of a tag with the same key.", maxLength: 256 },
		],
		send: ({ id }, { key = "", value = "" }) => sendTag(id, key.trim(), value.trim()),
	},
	{
		word: "Lock",
		done: "locked",
		fields: [{ name: "reason", label: "Reason" }],
		send: ({ id }, { reason = "" }) => sendLock(id, reason),
	},
	{
		word: "Queue run",
		done: "queued",
		fields: [
			{
				name: "mode",
				label: "Run",
				hint: "With auto-apply of a workspace, a plan is applied without a confirmation.",
				options: modes.filter(([mode]) => runModes.includes(mode)).map(([mode, word]) => [mode, word] as const),
			},
			{ name: "message", label: "Message" },
		],
		send: ({ id }, { mode = "apply", message = "" }) => sendRun(id, { mode: mode as QueueMode, message }),
	},
	{
		word: "Set Terraform version",
		done: "changed",
		fields: [
			{
				name: "version",
				label: "Version",
				hint: "A version such as 1.11.4, a constraint such as ~> 1.11.0, or latest.",
				required: true,
				maxLength: 100,
			},
		],
		send: ({ id }, { version = "" }) => sendVersion(id, version.trim()),
	},
];

// missingReason: why the action can't be sent yet.
export function missingReason(fields: readonly ActionField[], values: Values): string | undefined {
	const missing = fields.find((field) => field.required && !values[field.name]?.trim());
	return missing && `it needs a ${missing.label.toLowerCase()}`;
}

// toggledTargets: the selection with these workspaces, or without them.
export function toggledTargets(chosen: readonly Target[], targets: readonly Target[], on: boolean): readonly Target[] {
	const ids = new Set(targets.map(({ id }) => id));
	const rest = chosen.filter(({ id }) => !ids.has(id));
	return on ? [...rest, ...targets] : rest;
}
