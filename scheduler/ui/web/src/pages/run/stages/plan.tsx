// SPDX-License-Identifier: MPL-2.0
import { placeId } from "../../../changes/items.ts";
import { PlanChanges } from "../../../changes/plan_changes.tsx";
import { Fold } from "../../../components/fold.tsx";
import { Tabs } from "../../../components/tabs.tsx";
import { Elapsed } from "../../../components/time_ago.tsx";
import { address, segment } from "../../../core/api.ts";
import { count, counted } from "../../../core/format.ts";
import { useFragment } from "../../../core/hooks.ts";
import { type Resource, text } from "../../../core/resource.ts";
import { Log } from "../../../log/log.tsx";
import { placeOf } from "../../../log/ranges.ts";
import { Diagnostics } from "../events/diagnostics.tsx";
import { useLogEvents } from "../events/use_log_events.ts";
import type { RunView } from "../view.ts";
import type { Stage } from "./stage_list.ts";

function JsonDownloads({ plan }: { readonly plan: Resource }) {
	const redacted = address(`/plans/${segment(plan.id)}/json-output-redacted`);
	return (
		<p>
			<a href={redacted} download={`${plan.id}.json`}>
				Download the plan as JSON
			</a>{" "}
			without sensitive values.
		</p>
	);
}

// #plan:L10 names lines of the log, #change:ADDRESS a change.
function tabOf(fragment: string): string | undefined {
	return placeOf(fragment)?.log === "plan" ? "log" : placeId(fragment) ? "changes" : undefined;
}

type OutputProps = { readonly view: RunView; readonly plan: Resource; readonly running: boolean; readonly broken: boolean };

// Without changes there is the log alone, which is open while terraform runs. `broken`: nothing else says what failed.
function PlanOutput({ view, plan, running, broken }: OutputProps) {
	const fragment = useFragment();
	const log = () => <Log operation={plan} kind="plan" reload={view.reload} />;
	const changes = () => <PlanChanges plan={plan} />;
	if (text(plan, "status") !== "finished") {
		return view.reader ? null : (
			<Fold class="inner" open={running || broken || tabOf(fragment) === "log"} summary="Log">
				{log}
			</Fold>
		);
	}
	return view.reader ? (
		changes()
	) : (
		<Tabs
			label="Plan"
			wanted={tabOf(fragment)}
			tabs={[
				{ key: "changes", word: "Changes", content: changes },
				{ key: "log", word: "Log", content: log },
				{ key: "json", word: "JSON", content: () => <JsonDownloads plan={plan} /> },
			]}
		/>
	);
}

export function PlanContent({ view, plan, stage }: { readonly view: RunView; readonly plan: Resource; readonly stage: Stage }) {
	const { progress, complete } = useLogEvents(plan, view.reload);
	const running = stage.state === "running";
	const failed = stage.state === "failed";
	if (stage.state === "waiting") {
		return <p class="muted">The plan has not begun.</p>;
	}
	return (
		<>
			{running && (
				<p>
					Planning for <Elapsed since={stage.started} />: {counted(progress.refreshed, "resource")} refreshed
					{progress.refreshing > progress.refreshed && ` of ${count(progress.refreshing)}`}, {counted(progress.planned, "change")} found.
				</p>
			)}
			<Diagnostics list={progress.diagnostics} reveal={failed} />
			{failed && complete && progress.diagnostics.length === 0 && (
				<p>{text(view.run, "error") || "The plan failed."} The log may say more.</p>
			)}
			<PlanOutput view={view} plan={plan} running={running} broken={failed && progress.diagnostics.length === 0} />
		</>
	);
}
