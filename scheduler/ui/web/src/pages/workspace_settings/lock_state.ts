// SPDX-License-Identifier: MPL-2.0
// Who holds a workspace, and what the user can do about it.

import { flag, linkOf, may, object, type Resource, text } from "../../core/resource.ts";

export type Hold = {
	readonly run: string;
	readonly worker: string;
	readonly since: string;
	readonly until: string; // "": it has no deadline
	readonly engineEnded: boolean;
	readonly settled: boolean; // only unrecorded resources hold the workspace
};

export type LockState =
	| { readonly kind: "free" }
	| { readonly kind: "run"; readonly run: string }
	| { readonly kind: "held"; readonly hold: Hold }
	| { readonly kind: "person"; readonly who: string; readonly mine: boolean; readonly since: unknown; readonly reason: string };

export function lockState(workspace: Resource, by: Resource | undefined, userId: string): LockState {
	const hold = object(workspace, "hold");
	if (typeof hold["run-id"] === "string") {
		const word = (name: string) => (typeof hold[name] === "string" ? (hold[name] as string) : "");
		return {
			kind: "held",
			hold: {
				run: word("run-id"),
				worker: word("worker"),
				since: word("since"),
				until: word("until"),
				engineEnded: hold["engine-ended"] === true,
				settled: hold.settled === true,
			},
		};
	}
	const link = linkOf(workspace, "locked-by");
	if (!flag(workspace, "locked")) {
		return { kind: "free" };
	}
	if (link?.type === "runs") {
		return { kind: "run", run: link.id };
	}
	return {
		kind: "person",
		who: text(by, "username") || text(by, "name") || "somebody",
		mine: link?.type === "users" && link.id === userId,
		since: workspace.attributes["locked-at"],
		reason: text(workspace, "locked-reason"),
	};
}

export type LockAction = "lock" | "unlock" | "force-unlock";

// lockActions: the actions that fit the state, each with the reason why this user can't do it.
export function lockActions(state: LockState, workspace: Resource): readonly { readonly action: LockAction; readonly reason?: string }[] {
	const write = "you need write access to this workspace, or its lock permission";
	const admin = "you need admin access to this workspace";
	const forced = { action: "force-unlock" as const, ...(may(workspace, "can-force-unlock") ? {} : { reason: admin }) };
	if (state.kind === "held") {
		return [forced];
	}
	if (state.kind === "run") {
		return [{ action: "lock", reason: "the run in progress holds the workspace" }];
	}
	if (state.kind === "free") {
		return [{ action: "lock", ...(may(workspace, "can-lock") ? {} : { reason: write }) }];
	}
	if (state.mine) {
		return [{ action: "unlock", ...(may(workspace, "can-unlock") ? {} : { reason: write }) }];
	}
	return [{ action: "unlock", reason: `only ${state.who} can unlock it; an admin can force it` }, forced];
}
