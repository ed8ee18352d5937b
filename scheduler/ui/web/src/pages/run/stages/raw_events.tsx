// SPDX-License-Identifier: MPL-2.0
import { type Column, PlainTable } from "../../../components/table.tsx";
import { absolute, timeOf } from "../../../core/format.ts";
import { timesInUtc } from "../../../core/preferences.ts";
import { object, type Resource, text } from "../../../core/resource.ts";
import { actorOf } from "../view.ts";

type Line = { readonly at: string; readonly what: string; readonly more: string; readonly who: string };

function linesOf(run: Resource, events: readonly Resource[]): readonly Line[] {
	const reached = Object.entries(object(run, "status-timestamps")).map(([key, at]) => ({ at: String(at), what: key, more: "", who: "" }));
	const happened = events.map((event) => ({
		at: text(event, "created-at"),
		what: text(event, "action"),
		more: text(event, "description"),
		who: actorOf(event),
	}));
	return [...reached, ...happened].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

const columns: readonly Column<Line>[] = [
	{ key: "time", head: "Time", cell: (line) => absolute(timeOf(line.at) ?? 0, timesInUtc()) },
	{ key: "what", head: "Event or status", cell: (line) => <code>{line.what}</code> },
	{ key: "who", head: "By", cell: (line) => line.who },
	{ key: "more", head: "Description", cell: (line) => line.more },
];

// The run's events and the times of its statuses, as the API has them.
export function RawEvents({ run, events }: { readonly run: Resource; readonly events: readonly Resource[] }) {
	return (
		<PlainTable
			caption="Events and status timestamps"
			columns={columns}
			rows={linesOf(run, events)}
			keyOf={(line, i) => `${line.at} ${line.what} ${i}`}
			class="stack"
		/>
	);
}
