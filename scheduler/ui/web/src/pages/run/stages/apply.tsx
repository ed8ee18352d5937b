// SPDX-License-Identifier: MPL-2.0
import { Tabs } from "../../../components/tabs.tsx";
import { Elapsed } from "../../../components/time_ago.tsx";
import { address, segment } from "../../../core/api.ts";
import { useDocument, useFragment } from "../../../core/hooks.ts";
import { linksOf, may, number, type Resource } from "../../../core/resource.ts";
import { Log } from "../../../log/log.tsx";
import { placeOf } from "../../../log/ranges.ts";
import { ApplyRows, applySummary } from "../events/apply_rows.tsx";
import { Diagnostics } from "../events/diagnostics.tsx";
import type { Progress } from "../events/log_events.ts";
import { useLogEvents } from "../events/use_log_events.ts";
import type { RunView } from "../view.ts";
import type { Stage } from "./stage_list.ts";

// The state that the apply has written, for those who may read states.
export function SavedState({ view, apply }: { readonly view: RunView; readonly apply: Resource }) {
	const link = linksOf(apply, "state-versions").at(-1);
	const allowed = may(view.workspace, "can-read-state-versions");
	const state = useDocument(link && allowed ? address(`/state-versions/${segment(link.id)}`) : undefined);
	const serial = number(state.item, "serial");
	if (!link) {
		return <>No state was saved.</>;
	}
	return <>The state is saved{serial !== undefined && ` at serial ${serial}`}.</>;
}

function Summary({ view, apply, stage, progress }: { view: RunView; apply: Resource; stage: Stage; progress: Progress }) {
	if (stage.state === "running") {
		return (
			<p>
				Applying for <Elapsed since={stage.started} />
				{progress.rows.size > 0 && `: ${applySummary(progress, false)}`}.
			</p>
		);
	}
	return (
		<p>
			{progress.rows.size > 0 && `${applySummary(progress, true)}. `}
			<SavedState view={view} apply={apply} />
		</p>
	);
}

export function ApplyContent({ view, apply, stage }: { readonly view: RunView; readonly apply: Resource; readonly stage: Stage }) {
	const { progress, complete, cut } = useLogEvents(apply, view.reload);
	const fragment = useFragment();
	const running = stage.state === "running";
	const ended = !running;
	if (stage.state === "waiting") {
		return <p class="muted">The apply has not begun.</p>;
	}
	const rows = <ApplyRows progress={progress} ended={ended} />;
	return (
		<>
			<Summary view={view} apply={apply} stage={stage} progress={progress} />
			<Diagnostics list={progress.diagnostics} reveal={stage.state === "failed"} />
			{cut && <p class="muted">The log is long: the list ends at its first 64 MiB.</p>}
			{view.reader ? (
				rows
			) : (
				<Tabs
					label="Apply"
					shown={running || (complete && !progress.structured) ? "log" : "resources"}
					wanted={placeOf(fragment)?.log === "apply" ? "log" : undefined}
					tabs={[
						{ key: "resources", word: "Resources", content: () => rows },
						{ key: "log", word: "Log", content: () => <Log operation={apply} kind="apply" reload={view.reload} /> },
					]}
				/>
			)}
		</>
	);
}
