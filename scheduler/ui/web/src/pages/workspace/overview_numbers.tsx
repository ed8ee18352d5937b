// SPDX-License-Identifier: MPL-2.0
import { CopyId } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { count, duration } from "../../core/format.ts";
import { flag, linkOf, number, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { repositoryOf } from "../../vcs/repository.ts";
import type { WorkspaceView } from "./frame.tsx";
import { lockOf } from "./frame_links.ts";

const executionWords: Readonly<Record<string, string>> = { remote: "Remote", local: "Local", agent: "Agent pool" };

function average(workspace: Resource, name: string): string {
	const value = number(workspace, name) ?? 0;
	return value > 0 ? duration(value) : "–";
}

function lockWord(workspace: Resource): string {
	const lock = lockOf(workspace, store.get(linkOf(workspace, "locked-by")));
	return lock?.word ?? (flag(workspace, "locked") ? "Locked by its run" : "Not locked");
}

// Settings that matter for runs, and what the last 30 runs were like.
export function Numbers({ view }: { readonly view: WorkspaceView }) {
	const { workspace } = view;
	const { identifier, branch, tags } = repositoryOf(workspace);
	return (
		<dl class="numbers">
			{identifier && (
				<Fact word="Repository">
					<a href={pathTo("/app/:org/workspaces/:ws/settings/version-control", { org: view.org, ws: view.name })}>
						<bdi>{identifier}</bdi>
					</a>
					<div class="muted">
						{tags ? "tags" : branch ? "branch " : "default branch"} <bdi>{tags || branch}</bdi>
					</div>
				</Fact>
			)}
			<Fact word="Execution">{executionWords[text(workspace, "execution-mode")] ?? text(workspace, "execution-mode")}</Fact>
			<Fact word="Terraform">{text(workspace, "terraform-version")}</Fact>
			<Fact word="Auto-apply">{flag(workspace, "auto-apply") ? "On" : "Off"}</Fact>
			<Fact word="Lock">{lockWord(workspace)}</Fact>
			<Fact word="Latest change">
				<TimeAgo time={workspace.attributes["latest-change-at"]} />
			</Fact>
			<Fact word="Average plan">{average(workspace, "plan-duration-average")}</Fact>
			<Fact word="Average apply">{average(workspace, "apply-duration-average")}</Fact>
			<Fact word="Failed runs">{count(number(workspace, "run-failures") ?? 0)}</Fact>
			<Fact word="Failed policy checks">{count(number(workspace, "policy-check-failures") ?? 0)}</Fact>
			<Fact word="Id">
				<CopyId id={workspace.id} />
			</Fact>
		</dl>
	);
}
