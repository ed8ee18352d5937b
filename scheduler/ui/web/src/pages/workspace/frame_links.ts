// SPDX-License-Identifier: MPL-2.0
// The pages of a workspace, in the order of their links.

import { flag, linkOf, object, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";

export type FramePage = "overview" | "runs" | "states" | "variables" | "health" | "requests" | "queries" | "settings";

export const frameWords: Readonly<Record<FramePage, string>> = {
	overview: "Overview",
	runs: "Runs",
	states: "States",
	variables: "Variables",
	health: "Health",
	requests: "Change requests",
	queries: "Queries",
	settings: "Settings",
};

const below: Readonly<Record<FramePage, string>> = {
	overview: "",
	runs: "/runs",
	states: "/states",
	variables: "/variables",
	health: "/health",
	requests: "/change-requests",
	queries: "/queries",
	settings: "/settings/general",
};

export function framePath(page: FramePage, org: string, ws: string): string {
	return pathTo("/app/:org/workspaces/:ws", { org, ws }) + below[page];
}

function holdReason(hold: Readonly<Record<string, unknown>>): string {
	if (hold.settled) {
		return "resources are in no state";
	}
	return hold["engine-ended"] ? "its last state is missing" : `contact with worker ${hold.worker} was lost`;
}

// lockOf: who holds the workspace, other than its run in progress, and why.
export function lockOf(workspace: Resource, by: Resource | undefined): { word: string; reason: string } | undefined {
	const hold = object(workspace, "hold");
	if (!flag(workspace, "locked")) {
		return undefined;
	}
	if (hold["run-id"]) {
		return { word: "Held after a lost apply", reason: holdReason(hold) };
	}
	if (linkOf(workspace, "locked-by")?.type === "runs") {
		return undefined;
	}
	const reason = text(workspace, "locked-reason");
	const who = text(by, "username") || text(by, "name");
	return { word: who ? `Locked by ${who}` : "Locked", reason };
}

// queueReason: why no run can be queued, or undefined.
export function queueReason(workspace: Resource, mayQueue: boolean): string | undefined {
	if (!mayQueue) {
		return "you need plan access to this workspace";
	}
	return text(workspace, "execution-mode") === "local" ? "its runs are local: the execution mode is local" : undefined;
}

// renamedPath: the same page of the workspace with another name, or "" if the path is of no page of the workspace.
export function renamedPath(path: string, org: string, before: string, now: string): string {
	const old = framePath("overview", org, before);
	const isOwn = path === old || path.startsWith(`${old}/`);
	return isOwn && now && before !== now ? framePath("overview", org, now) + path.slice(old.length) : "";
}
