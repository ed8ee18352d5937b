// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { PlanCounts } from "../../changes/plan_counts.tsx";
import { EmptyState } from "../../components/states.tsx";
import { StatusMark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { runTitle } from "../../core/run_title.ts";
import { isFinal } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { commitOf } from "../../vcs/commit.ts";
import { CommitLine } from "../../vcs/commit_line.tsx";
import { repositoryOf } from "../../vcs/repository.ts";
import { Waiting } from "../run/waiting.tsx";
import { RunWait } from "../runs/run_table.tsx";
import { cloudBlock } from "../workspaces/list.ts";
import type { WorkspaceView } from "./frame.tsx";

type RunProps = { readonly view: WorkspaceView; readonly run: Resource };

function RunLine({ view, run }: RunProps) {
	const commit = commitOf(run);
	return (
		<div class="run-line">
			<StatusMark run={run} />{" "}
			<a href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run: run.id })}>{runTitle(run)}</a>{" "}
			<PlanCounts plan={store.one(run, "plan")} />{" "}
			<span class="muted">
				{text(store.one(run, "created-by"), "username")} <TimeAgo time={run.attributes["created-at"]} />
			</span>
			{commit && <CommitLine commit={commit} />}
		</div>
	);
}

// The runs that wait in the queue, in its order.
function Queue({ view, runs }: { readonly view: WorkspaceView; readonly runs: readonly Resource[] }) {
	const queue = [...runs].sort((a, b) => (number(a, "position-in-queue") ?? 0) - (number(b, "position-in-queue") ?? 0));
	return (
		<section aria-labelledby="queue">
			<h3 id="queue">Queue</h3>
			<ol class="queue">
				{queue.map((run) => (
					<li key={run.id} value={number(run, "position-in-queue")}>
						<RunLine view={view} run={run} />
						<RunWait run={run} />
					</li>
				))}
			</ol>
		</section>
	);
}

function NoRuns({ view }: { readonly view: WorkspaceView }) {
	if (repositoryOf(view.workspace).identifier) {
		return (
			<EmptyState title="No runs yet">
				<p>
					{flag(view.workspace, "queue-all-runs")
						? "The next commit of the repository starts one."
						: "Commits of the repository start runs after a user has queued the first one."}{" "}
					<a href={pathTo("/app/:org/workspaces/:ws/settings/version-control", { org: view.org, ws: view.name })}>Run a commit now</a>
				</p>
			</EmptyState>
		);
	}
	return (
		<EmptyState title="No runs yet">
			<p>Add this block to a configuration, then run terraform init and terraform plan.</p>
			<pre>{cloudBlock(location.host, view.org).replace('"example"', JSON.stringify(view.name))}</pre>
		</EmptyState>
	);
}

const include = "plan,created_by,configuration_version.ingress_attributes";

// The current run and why it waits, the queue behind it, and the last applied run.
export function NowAndNext({ view }: { readonly view: WorkspaceView }) {
	const { workspace, run } = view;
	const path = `/workspaces/${segment(workspace.id)}/runs`;
	const pending = useDocument(address(path, { "filter[status]": "pending", "page[size]": 20, include: `${include},waiting` }));
	const applied = useDocument(address(path, { "filter[status]": "applied", "page[size]": 1, include }));
	useEffect(() => {
		if (pending.asOf > 0) {
			void pending.reload();
		}
		if (applied.asOf > 0 && run && isFinal(text(run, "status"))) {
			void applied.reload();
		}
	}, [workspace]); // with each answer about the workspace
	const queued = pending.items.filter((item) => item.id !== run?.id && text(item, "status") === "pending");
	const last = applied.items[0];
	if (!run) {
		return <NoRuns view={view} />;
	}
	const going = !isFinal(text(run, "status"));
	return (
		<section class="panel now" aria-labelledby="now">
			<h2 id="now">{going ? "Current run" : "Last run"}</h2>
			<RunLine view={view} run={run} />
			{going && <Waiting run={run} />}
			{queued.length > 0 && <Queue view={view} runs={queued} />}
			{last && last.id !== run.id && (
				<>
					<h3>Last applied run</h3>
					<RunLine view={view} run={last} />
				</>
			)}
		</section>
	);
}
