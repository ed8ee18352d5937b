// SPDX-License-Identifier: MPL-2.0
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

// The run's events and the times of its statuses, as the API has them.
export function RawEvents({ run, events }: { readonly run: Resource; readonly events: readonly Resource[] }) {
	return (
		<table class="stack">
			<caption class="sr-only">Events and status timestamps</caption>
			<thead>
				<tr>
					<th scope="col">Time</th>
					<th scope="col">Event or status</th>
					<th scope="col">By</th>
					<th scope="col">Description</th>
				</tr>
			</thead>
			<tbody>
				{linesOf(run, events).map((line, i) => (
					<tr key={`${line.at} ${line.what} ${i}`}>
						<td>{absolute(timeOf(line.at) ?? 0, timesInUtc())}</td>
						<td>
							<code>{line.what}</code>
						</td>
						<td>{line.who}</td>
						<td>{line.more}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
