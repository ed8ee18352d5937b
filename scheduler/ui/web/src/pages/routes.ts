// SPDX-License-Identifier: MPL-2.0
// The pages of the bundle. Each is a module that loads when its address is opened. The server answers every address of
// the web UI (scheduler/api/routes.def); an address without a row here reads as not found.

import type { Route } from "../core/router.ts";

export const routes: readonly Route[] = [
	{ pattern: "/app", load: () => import("./organizations/organizations.tsx") },
	{ pattern: "/app/:org/workspaces", load: () => import("./workspaces/workspaces.tsx") },
	{ pattern: "/app/:org/workspaces/:ws/runs/:run", load: () => import("./run/run.tsx") },
];
