// SPDX-License-Identifier: MPL-2.0
// The settings of a workspace, in the order of their links.

import { type Params, pathTo } from "../../core/router.ts";

export const sectionWords = {
	general: "General",
	"version-control": "Version control",
	locking: "Locking",
	"run-tasks": "Run tasks",
	"team-access": "Team access",
	notifications: "Notifications",
	"remote-state": "Remote state",
	destruction: "Destruction",
} as const;

export type Section = keyof typeof sectionWords;

export function sectionPath(section: Section, params: Params): string {
	return pathTo("/app/:org/workspaces/:ws/settings/", params) + section;
}
