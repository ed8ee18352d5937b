// SPDX-License-Identifier: MPL-2.0
// The text of each dialog, above its fields.

import type { ComponentChildren } from "preact";
import { PlanCounts } from "../../../changes/plan_counts.tsx";
import { Content } from "../../../components/states.tsx";
import { StatusMark } from "../../../components/status_mark.tsx";
import { address, segment } from "../../../core/api.ts";
import { useDocument } from "../../../core/hooks.ts";
import { flag, linkOf, number, type Resource, text } from "../../../core/resource.ts";
import { pathTo } from "../../../core/router.ts";
import { runTitle } from "../../../core/run_title.ts";
import { Destroyed } from "../destroyed.tsx";
import { failedNames, opaSets, sentinelSets } from "../stages/policies.ts";
import type { RunView } from "../view.ts";

function ApplyText({ view }: { readonly view: RunView }) {
	const { changes } = view;
	return (
		<>
			<p>
				<PlanCounts plan={view.parts.plan} changes={changes.item} words />
			</p>
			<Destroyed plan={view.parts.plan} changes={changes} />
		</>
	);
}

function OverrideText({ view }: { readonly view: RunView }) {
	const { opa, sentinel } = view.parts;
	const waits = text(sentinel, "status") === "soft_failed" ? undefined : opa;
	const outcomes = useDocument(waits && address(`/policy-evaluations/${segment(waits.id)}/policy-set-outcomes`, { "page[size]": 100 }));
	const names = failedNames(waits ? opaSets(outcomes.items) : sentinelSets(sentinel));
	return (
		<>
			<p>The run goes on although these policies failed:</p>
			<ul>
				{names.map((name) => (
					<li key={name}>
						<strong>{name}</strong>
					</li>
				))}
			</ul>
		</>
	);
}

function ExecuteText({ view }: { readonly view: RunView }) {
	const { run, workspace } = view;
	const runs = useDocument(
		workspace && address(`/workspaces/${segment(workspace.id)}/runs`, { "filter[status_group]": "non_final", "page[size]": 100 }),
	);
	const before = runs.items.filter((other) => isBefore(other, run, linkOf(workspace, "current-run")?.id));
	const org = linkOf(workspace, "organization")?.id ?? "";
	return (
		<>
			<p>This run starts next. These runs before it are discarded:</p>
			<Content of={runs}>
				{() =>
					before.length === 0 ? (
						<p class="muted">There is none.</p>
					) : (
						<ul class="plain-list">
							{before.map((other) => (
								<li key={other.id}>
									<StatusMark run={other} />{" "}
									<a href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: text(workspace, "name"), run: other.id })}>
										{runTitle(other)}
									</a>{" "}
									<code class="muted">{other.id}</code>
								</li>
							))}
						</ul>
					)
				}
			</Content>
			<p>A run that plans or applies can't be discarded: nothing happens then, and the answer says so.</p>
		</>
	);
}

const texts: Readonly<Record<string, (view: RunView) => ComponentChildren>> = {
	apply: (view) => <ApplyText view={view} />,
	override: (view) => <OverrideText view={view} />,
	execute: (view) => <ExecuteText view={view} />,
	discard: () => <p>The run ends without an apply. Nothing is changed.</p>,
	cancel: () => (
		<p>
			terraform is interrupted. It finishes the operations that it has begun, and then ends. Completed changes remain, and the state has
			them.
		</p>
	),
	force: () => (
		<p class="note failure">
			terraform is killed at once. The state misses its changes since the last saved state. Resources may remain that no state shows.
		</p>
	),
	commit: () => (
		<p>
			A new run of this commit starts as if it had just been pushed: with the current variables, and with auto-apply if the workspace has
			it.
		</p>
	),
	again: () => <p>A new run plans the same configuration version with the current variables.</p>,
	lock: () => <p>Runs of this workspace wait as pending until somebody unlocks it. Plan-only runs go on.</p>,
	unlock: () => <p>The pending runs of this workspace go on.</p>,
};

export function Explain({ action, view }: { readonly action: string; readonly view: RunView }) {
	return <>{texts[action]?.(view)}</>;
}

// The runs before a pending one in its workspace's queue.

// isBefore: whether the other run stands in the way of a pending one.
export function isBefore(other: Resource, run: Resource, current: string | undefined): boolean {
	const place = number(other, "position-in-queue") ?? 0;
	const queued = text(other, "status") === "pending" && !flag(other, "plan-only") && place < (number(run, "position-in-queue") ?? 0);
	return other.id !== run.id && (queued || other.id === current);
}
