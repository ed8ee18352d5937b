// SPDX-License-Identifier: MPL-2.0
// A new run of the same commit, as if it had just been pushed.

import { linkOf } from "../../../core/resource.ts";
import { commitOf } from "../../../vcs/commit.ts";
import { commitRun } from "../../vcs/commit_run.ts";
import { placeOf, type RunView } from "../view.ts";

export function commitAgain(view: RunView): Promise<void> {
	const place = { org: placeOf(view).org, workspace: linkOf(view.run, "workspace")?.id ?? "" };
	return commitRun(place, commitOf(view.run)?.sha ?? "");
}
