// SPDX-License-Identifier: MPL-2.0
// What the Queue Plan dialog asks for, as a request for a run.

export type QueueMode = "apply" | "plan" | "refresh" | "destroy";

export type QueueOrder = { readonly mode: QueueMode; readonly message: string };

export const modes: readonly (readonly [QueueMode, string])[] = [
	["apply", "Plan and apply"],
	["plan", "Plan only"],
	["refresh", "Refresh only"],
	["destroy", "Destroy plan"],
];

export const emptyOrder: QueueOrder = { mode: "apply", message: "" };

export function runBody(order: QueueOrder, workspace: string) {
	return {
		data: {
			type: "runs",
			attributes: {
				...(order.message && { message: order.message }),
				...(order.mode === "plan" && { "plan-only": true }),
				...(order.mode === "refresh" && { "refresh-only": true }),
				...(order.mode === "destroy" && { "is-destroy": true }),
			},
			relationships: { workspace: { data: { type: "workspaces", id: workspace } } },
		},
	};
}
