// SPDX-License-Identifier: MPL-2.0
// The runs before a pending one in its workspace's queue.

import { flag, number, type Resource, text } from "../../../core/resource.ts";

// isBefore: whether the other run stands in the way of a pending one.
export function isBefore(other: Resource, run: Resource, current: string | undefined): boolean {
	const place = number(other, "position-in-queue") ?? 0;
	const queued = text(other, "status") === "pending" && !flag(other, "plan-only") && place < (number(run, "position-in-queue") ?? 0);
	return other.id !== run.id && (queued || other.id === current);
}
