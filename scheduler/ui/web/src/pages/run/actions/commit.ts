// SPDX-License-Identifier: MPL-2.0
// A new run of the same commit, as if it had just been pushed.

import { linkOf, text } from "../../../core/resource.ts";
import { commitOf } from "../../../vcs/commit.ts";
import { commitRun } from "../../vcs/commit_run.ts";
import type { RunView } from "../view.ts";

export function commitAgain({ run, workspace }: RunView): Promise<void> {
	const place = {
		org: linkOf(workspace, "organization")?.id ?? "",
		ws: text(workspace, "name"),
		workspace: linkOf(run, "workspace")?.id ?? "",
	};
	return commitRun(place, commitOf(run)?.sha ?? "");
}
