// SPDX-License-Identifier: MPL-2.0
// Requests a run of a commit. The API answers with the event that makes the run when the commit is known.

import { address, change, segment } from "../../core/api.ts";
import type { Resource } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";

type Place = { readonly org: string; readonly workspace: string };

// commitRun: sha "" is the newest commit of the workspace's branch.
export async function commitRun({ org, workspace }: Place, sha: string): Promise<void> {
	const { data } = await change("POST", address(`/workspaces/${segment(workspace)}/actions/vcs-run`), sha ? { "commit-sha": sha } : {});
	const made = data && !Array.isArray(data) ? (data as Resource) : undefined;
	if (made) {
		navigate(pathTo("/app/:org/vcs/events/:event", { org, event: made.id }));
	}
}
