// SPDX-License-Identifier: MPL-2.0
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { absolute, timeOf } from "../../core/format.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { timesInUtc } from "../../core/preferences.ts";
import { flag, linkOf, number, type Resource, text, texts } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import type { Tone } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { type ObjectKind, wordOf } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { MaintenanceWindows } from "../maintenance_windows.tsx";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { timeInZone, zoneHere, zoneNames } from "./schedule_times.ts";
import { mayManage, needsAdmin, ReadOnlyNote, SettingsFrame, sectionPath } from "./settings_frame.tsx";

const kinds = [
	["plan", "Plan: changes nothing"],
	["plan-and-apply", "Plan and apply"],
	["refresh-only", "Refresh: takes what exists into the state"],
	["destroy", "Destroy: all that the state has"],
] as const;

const outcomes: Readonly<Record<string, readonly [tone: Tone, word: string]>> = {
	queued: ["success", "Run queued"],
	skipped: ["wait", "Skipped"],
	stopped: ["failure", "Stopped"],
};

// The next times, in the zone of the browser and in that of the schedule if they differ.
function NextTimes({ schedule }: { readonly schedule: Resource }) {
	const zone = text(schedule, "time-zone");
	const times = texts(schedule, "next-occurrences").flatMap((time) => timeOf(time) ?? []);
	if (!flag(schedule, "enabled")) {
		return text(schedule, "stopped-reason") ? (
			<Mark tone="failure">Stopped</Mark>
		) : (
			<Mark tone="muted">{text(schedule, "last-outcome") && !zone ? "Done" : "Disabled"}</Mark>
		);
	}
	return (
		<ul class="plain-list" aria-label={`Next times of ${text(schedule, "name")}`}>
			{times.slice(0, 3).map((time) => (
				<li key={time}>
					<time dateTime={new Date(time).toISOString()}>{absolute(time, timesInUtc())}</time>
					{zone && zone !== zoneHere() && (
						<span class="muted">
							{" "}
							({timeInZone(time, zone)} {zone})
						</span>
					)}
				</li>
			))}
		</ul>
	);
}

function LastTime({ schedule, view }: { readonly schedule: Resource; readonly view: WorkspaceView }) {
	const [tone, word] = outcomes[text(schedule, "last-outcome")] ?? ["muted", ""];
	const run = linkOf(schedule, "last-run");
	if (!word) {
		return <span class="muted">Never</span>;
	}
	return (
		<>
			<Mark tone={tone}>{word}</Mark> <TimeAgo time={schedule.attributes["last-at"]} />
			{text(schedule, "last-reason") && <div>{text(schedule, "last-reason")}.</div>}
			{run && (
				<div>
					<a href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run: run.id })}>{run.id}</a>
				</div>
			)}
		</>
	);
}

function When({ schedule }: { readonly schedule: Resource }) {
	const jitter = number(schedule, "jitter-seconds") ?? 0;
	return (
		<>
			{text(schedule, "cron") ? <code>{text(schedule, "cron")}</code> : "Once"}
			{text(schedule, "time-zone") && <div>{text(schedule, "time-zone")}</div>}
			{jitter > 0 && <div class="muted">up to {jitter} s later</div>}
		</>
	);
}

function person(schedule: Resource): string {
	const user = store.one(schedule, "run-as");
	return user ? text(user, "username") : "";
}

function kindOf(view: WorkspaceView): ObjectKind {
	return {
		type: "schedules",
		one: "schedule",
		many: "Schedules",
		empty: "No schedules. Runs start when somebody asks for them, or by a commit or a run trigger.",
		name: (item) => text(item, "name"),
		item: (id) => `/schedules/${segment(id)}`,
		fields: [
			{ name: "name", label: "Name", kind: "text", longest: 90 },
			{ name: "kind", label: "Run", kind: "choice", options: kinds, initial: "plan" },
			{
				name: "auto-apply",
				label: "Apply without confirmation",
				kind: "flag",
				initial: true,
				shown: (values) => values.kind !== "plan",
				hint: "Otherwise the run waits for a person, and the schedule is skipped meanwhile.",
			},
			{
				name: "cron",
				label: "Repeat (cron)",
				kind: "text",
				nullable: true,
				hint: "Minute, hour, day of the month, month, day of the week: 30 3 * * mon-fri. Empty for one time.",
			},
			{
				name: "time-zone",
				label: "Time zone",
				kind: "text",
				initial: zoneHere(),
				nullable: true,
				suggestions: zoneNames(),
				shown: (values) => values.cron !== "",
				hint: "Where clocks skip the time, the run starts after the gap. A time that occurs twice counts once.",
			},
			{
				name: "at",
				label: "Once at",
				kind: "moment",
				shown: (values) => values.cron === "",
				hint: "In the time zone of this browser.",
			},
			{
				name: "jitter-seconds",
				label: "Delay of up to (seconds)",
				kind: "number",
				initial: "0",
				hint: "Spreads schedules of the same minute. 3600 at most.",
			},
			{ name: "enabled", label: "Enabled", kind: "flag", initial: true },
		],
		columns: [
			{
				key: "kind",
				head: "Run",
				cell: (item) => (
					<>
						{wordOf(kinds, text(item, "kind"))}
						{person(item) && <div class="muted">as {person(item)}</div>}
					</>
				),
			},
			{ key: "when", head: "When", cell: (item) => <When schedule={item} /> },
			{ key: "next", head: "Next", class: "wide", cell: (item) => <NextTimes schedule={item} /> },
			{ key: "last", head: "Last", class: "wide", cell: (item) => <LastTime schedule={item} view={view} /> },
		],
		removes: "It starts no more runs. Its runs stay.",
	};
}

// When the workspace is destroyed automatically: a schedule of its own, among the settings of the destruction.
function AutoDestroy({ view }: { readonly view: WorkspaceView }) {
	const at = timeOf(view.workspace.attributes["auto-destroy-at"]);
	if (at === undefined) {
		return null;
	}
	return (
		<p class="note">
			The workspace is destroyed automatically at <time dateTime={new Date(at).toISOString()}>{absolute(at, timesInUtc())}</time> (
			<a href={sectionPath("destruction", { org: view.org, ws: view.name })}>Destruction</a>).
		</p>
	);
}

function ScheduleList({ view }: { readonly view: WorkspaceView }) {
	const path = `/workspaces/${segment(view.workspace.id)}/schedules`;
	const list = useDocument(address(path, { include: "run_as", "page[size]": 100 }));
	useLive([`workspace:${view.workspace.id}`], () => void list.reload());
	return (
		<ObjectList
			kind={kindOf(view)}
			list={list}
			createPath={path}
			intro="Runs at set times, with the rights of the person who saved the schedule."
			reason={mayManage(view) ? undefined : needsAdmin}
		/>
	);
}

export default function Schedules({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="schedules">
			{(view) => (
				<>
					<ReadOnlyNote shown={!mayManage(view)} what="schedules" />
					<ScheduleList view={view} />
					<AutoDestroy view={view} />
					<MaintenanceWindows
						path={`/workspaces/${segment(view.workspace.id)}`}
						reason={mayManage(view) ? undefined : needsAdmin}
						heading
						intro="When applies may start. Without windows here, those of the project apply, or else those of the organization."
					/>
				</>
			)}
		</SettingsFrame>
	);
}
