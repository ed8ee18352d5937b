// SPDX-License-Identifier: MPL-2.0
// A new run of the same configuration version with the same options.

import { address, change } from "../../../core/api.ts";
import { flag, linkOf, list, type Resource, text } from "../../../core/resource.ts";
import { navigate, pathTo } from "../../../core/router.ts";
import { commitOf } from "../../../vcs/commit.ts";
import { commitRun } from "../../vcs/commit_run.ts";
import { placeOf, type RunView } from "../view.ts";

const flags = ["is-destroy", "plan-only", "refresh", "refresh-only", "allow-empty-apply", "allow-config-generation", "save-plan"];
const lists = ["target-addrs", "replace-addrs", "policy-paths", "invoke-action-addrs", "variables"];

export function optionsOf(run: Resource, version: string): Readonly<Record<string, unknown>> {
	return {
		message: text(run, "message"),
		...Object.fromEntries(flags.map((name) => [name, flag(run, name)])),
		...Object.fromEntries(lists.filter((name) => list(run, name).length > 0).map((name) => [name, list(run, name)])),
		...(flag(run, "plan-only") && version && { "terraform-version": version }),
	};
}

export async function planAgain({ run, workspace }: RunView, version: string): Promise<void> {
	const configuration = linkOf(run, "configuration-version");
	const document = await change("POST", address("/runs"), {
		data: {
			type: "runs",
			attributes: optionsOf(run, version),
			relationships: {
				workspace: { data: linkOf(run, "workspace") },
				...(configuration && { "configuration-version": { data: configuration } }),
			},
		},
	});
	const made = document.data as Resource | null;
	const org = linkOf(workspace, "organization")?.id ?? "";
	if (made) {
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: text(workspace, "name"), run: made.id }));
	}
}

// A new run of the same commit, as if it had just been pushed.

export function commitAgain(view: RunView): Promise<void> {
	const place = { org: placeOf(view).org, workspace: linkOf(view.run, "workspace")?.id ?? "" };
	return commitRun(place, commitOf(view.run)?.sha ?? "");
}
