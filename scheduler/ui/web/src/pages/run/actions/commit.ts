// SPDX-License-Identifier: MPL-2.0
// A new run of the same commit, as if it had just been pushed.

import { address, change, segment } from "../../../core/api.ts";
import { linkOf, type Resource, text } from "../../../core/resource.ts";
import { navigate, pathTo } from "../../../core/router.ts";
import { commitOf } from "../../../vcs/commit.ts";
import type { RunView } from "../view.ts";

export async function commitAgain({ run, workspace }: RunView): Promise<void> {
	const path = address(`/workspaces/${segment(linkOf(run, "workspace")?.id ?? "")}/actions/vcs-run`);
	const { data } = await change("POST", path, { "commit-sha": commitOf(run)?.sha });
	const made = data && !Array.isArray(data) ? (data as Resource) : undefined;
	const org = linkOf(workspace, "organization")?.id ?? "";
	if (made?.type === "runs") {
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: text(workspace, "name"), run: made.id }));
	}
}
