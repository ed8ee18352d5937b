// SPDX-License-Identifier: MPL-2.0
// The settings of a workspace, in the order of their links.

import { type Params, pathTo } from "../../core/router.ts";

export type Section =
	| "general"
	| "version-control"
	| "locking"
	| "run-tasks"
	| "team-access"
	| "notifications"
	| "remote-state"
	| "destruction";

export const sectionWords: Readonly<Record<Section, string>> = {
	general: "General",
	"version-control": "Version control",
	locking: "Locking",
	"run-tasks": "Run tasks",
	"team-access": "Team access",
	notifications: "Notifications",
	"remote-state": "Remote state",
	destruction: "Destruction",
};

export const sections = Object.keys(sectionWords) as readonly Section[];

export function sectionPath(section: Section, params: Params): string {
	return pathTo("/app/:org/workspaces/:ws/settings/", params) + section;
}
