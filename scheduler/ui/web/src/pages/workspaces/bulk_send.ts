// SPDX-License-Identifier: MPL-2.0
// One request for each of several workspaces. The server checks the rights of each.

import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { ApiError, errorOf, type Problem } from "../../core/errors.ts";
import { counted } from "../../core/format.ts";
import { emptyOrder, type QueueOrder, runBody } from "../workspace/queue_order.ts";

export type Target = { readonly id: string; readonly name: string };

export type Sending = {
	readonly targets: readonly Target[];
	readonly word: string; // "locked"
	readonly send: (target: Target) => Promise<unknown>;
	readonly onDone: (ids: readonly string[]) => void; // those for which it succeeded
	readonly onProgress?: (sent: number) => void;
	readonly isStopped?: () => boolean;
};

const waitMs = 1000;
const maxWaits = 60; // for the limit of requests a second

async function sendOnce(send: () => Promise<unknown>): Promise<void> {
	for (let waits = 0; ; waits++) {
		try {
			await send();
			return;
		} catch (failure) {
			if (errorOf(failure).status !== 429 || waits === maxWaits) {
				throw failure;
			}
			await new Promise((resolve) => setTimeout(resolve, waitMs));
		}
	}
}

// problemOf: what failed at which workspace. The server does not tell a missing right from a missing workspace.
export function problemOf(target: Target, failure: unknown): Problem {
	const error = errorOf(failure);
	const why = error.status === 404 ? "you may not do this here, or it is gone" : error.message;
	return { title: target.name, detail: `${target.name}: ${why}`, pointer: "" };
}

// sendEach: one after the other, each with its own answer. It fails with the problems of all, and ends early if the
// server can't be reached.
export async function sendEach({ targets, word, send, onDone, onProgress, isStopped }: Sending): Promise<void> {
	const done: string[] = [];
	const problems: Problem[] = [];
	for (const target of targets) {
		if (isStopped?.()) {
			break;
		}
		try {
			await sendOnce(() => send(target));
			done.push(target.id);
		} catch (failure) {
			problems.push(problemOf(target, failure));
			if (errorOf(failure).status === 0) {
				break;
			}
		}
		onProgress?.(done.length + problems.length);
	}
	onDone(done);
	announce(`${counted(done.length, "workspace")} ${word}`);
	if (problems.length > 0) {
		throw new ApiError(0, problems);
	}
}

// ---- what is sent ----

const pathOf = (workspace: string) => `/workspaces/${segment(workspace)}`;

export const sendLock = (workspace: string, reason: string) => change("POST", address(`${pathOf(workspace)}/actions/lock`), { reason });

export const sendRun = (workspace: string, order: Partial<QueueOrder>) =>
	change("POST", address("/runs"), runBody({ ...emptyOrder, ...order }, workspace));

export const sendTag = (workspace: string, key: string, value: string) =>
	change("PATCH", address(`${pathOf(workspace)}/tag-bindings`), { data: [{ type: "tag-bindings", attributes: { key, value } }] });

export const sendVersion = (workspace: string, version: string) =>
	change("PATCH", address(pathOf(workspace)), { data: { type: "workspaces", attributes: { "terraform-version": version } } });
