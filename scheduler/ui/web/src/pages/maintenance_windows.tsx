// SPDX-License-Identifier: MPL-2.0
// Maintenance windows of organizations, projects and workspaces.

import { address, segment } from "../core/api.ts";
import { number, text, texts } from "../core/resource.ts";
import type { ObjectKind } from "../objects/kinds.ts";
import { ObjectList } from "../objects/object_list.tsx";
import { weekDays, windowDays, windowEnd } from "./window_times.ts";
import { zoneHere, zoneNames } from "./workspace_settings/schedule_times.ts";

const kind: ObjectKind = {
	type: "maintenance-windows",
	one: "maintenance window",
	many: "Maintenance windows",
	empty: "No maintenance windows here.",
	name: (item) => text(item, "name"),
	item: (id) => `/maintenance-windows/${segment(id)}`,
	fields: [
		{ name: "name", label: "Name", kind: "text", longest: 90 },
		{ name: "days", label: "Days on which it opens", kind: "set", options: weekDays, initial: ["mon", "tue", "wed", "thu", "fri"] },
		{ name: "start", label: "Opens at", kind: "text", initial: "22:00", longest: 5, hint: "Hours and minutes, such as 22:00." },
		{ name: "duration-minutes", label: "Open for (minutes)", kind: "number", initial: "120", hint: "1440 at most: a day." },
		{ name: "time-zone", label: "Time zone", kind: "text", initial: zoneHere(), suggestions: zoneNames() },
	],
	columns: [
		{ key: "days", head: "Days", cell: (item) => windowDays(texts(item, "days")) },
		{
			key: "time",
			head: "Open",
			cell: (item) => `${text(item, "start")} to ${windowEnd(text(item, "start"), number(item, "duration-minutes") ?? 0)}`,
		},
		{ key: "zone", head: "Time zone", cell: (item) => text(item, "time-zone") },
	],
	removes: "Runs that wait for it start when the next window opens, or at once if there is none.",
};

type Props = {
	readonly path: string; // of the owner, below the API's address
	readonly reason: string | undefined; // why they can't be changed
	readonly heading?: boolean;
	readonly intro: string;
};

export function MaintenanceWindows({ path, reason, heading = false, intro }: Props) {
	const below = `${path}/maintenance-windows`;
	return (
		<>
			{heading && <p>{intro}</p>}
			<ObjectList kind={kind} url={address(below)} createPath={below} intro={intro} reason={reason} heading={heading} />
		</>
	);
}
