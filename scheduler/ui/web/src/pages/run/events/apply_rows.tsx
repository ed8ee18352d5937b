// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../../components/button.tsx";
import { Mark } from "../../../components/status_mark.tsx";
import { count, counted, duration } from "../../../core/format.ts";
import { useNow } from "../../../core/hooks.ts";
import type { Tone } from "../../../core/status.ts";
import { type ApplyRow, type Progress, type RowState, rowsSorted, slowest, tally } from "./log_events.ts";

const looks: Readonly<Record<RowState, readonly [Tone, string, string?]>> = {
	pending: ["muted", "waiting"],
	running: ["running", "in progress"],
	provisioning: ["running", "provisioning"],
	done: ["success", "done"],
	failed: ["failure", "failed"],
	tainted: ["failure", "tainted"],
};
const actionWords: Readonly<Record<string, string>> = {
	create: "+ create",
	update: "~ update",
	delete: "− destroy",
	replace: "−/+ replace",
	read: "← read",
};
const firstRows = 50;

function wordOf(row: ApplyRow, ended: boolean): string {
	if (row.state === "pending") {
		return ended ? "not started" : "waiting";
	}
	return row.state === "running" && ended ? "interrupted" : looks[row.state][1];
}

function Row({ row, ended, now }: { readonly row: ApplyRow; readonly ended: boolean; readonly now: number }) {
	const [tone, , icon] = looks[row.state];
	const until = row.ended || (ended ? 0 : now);
	return (
		<tr>
			<td>
				<Mark tone={row.state === "pending" || (ended && row.state === "running") ? "muted" : tone} {...(icon && { icon })}>
					{wordOf(row, ended)}
				</Mark>
			</td>
			<td class="action-word">{actionWords[row.action] ?? row.action}</td>
			<td>
				<code>{row.address}</code>
				{row.id && <span class="muted"> id {row.id.slice(0, 200)}</span>}
				{row.state === "tainted" && <span> exists, and is replaced by the next apply: its provisioner failed</span>}
				{row.state === "provisioning" && row.note && <span class="muted"> by {row.note}</span>}
			</td>
			<td class="number">{row.started > 0 && until > 0 ? duration(until - row.started) : ""}</td>
		</tr>
	);
}

function Outputs({ progress }: { readonly progress: Progress }) {
	return (
		<>
			<h3>Outputs</h3>
			<dl class="outputs">
				{progress.outputs.map((output) => (
					<div key={output.name}>
						<dt>
							<code>{output.name}</code>
						</dt>
						<dd>{output.sensitive ? <em>(sensitive)</em> : <code>{JSON.stringify(output.value)?.slice(0, 2000) ?? "(unknown)"}</code>}</dd>
					</div>
				))}
			</dl>
		</>
	);
}

export function applySummary(progress: Progress, ended: boolean): string {
	const { total, done, running, failed } = tally(progress);
	const left = total - done - running - failed;
	return [
		`${count(done)} of ${counted(total, "resource")} done`,
		running > 0 && `${count(running)} ${ended ? "interrupted" : "in progress"}`,
		failed > 0 && `${count(failed)} failed`,
		left > 0 && `${count(left)} ${ended ? "not started" : "waiting"}`,
	]
		.filter(Boolean)
		.join(", ");
}

// A row for each resource of the apply: what failed and what runs first.
export function ApplyRows({ progress, ended }: { readonly progress: Progress; readonly ended: boolean }) {
	const [all, setAll] = useState(false);
	const now = useNow(ended ? 60_000 : 1000);
	const rows = rowsSorted(progress);
	const slow = slowest(progress, 5);
	return (
		<>
			<table class="apply-rows">
				<caption class="sr-only">Resources of the apply</caption>
				<thead class="sr-only">
					<tr>
						<th scope="col">State</th>
						<th scope="col">Action</th>
						<th scope="col">Resource</th>
						<th scope="col">Time</th>
					</tr>
				</thead>
				<tbody>
					{rows.slice(0, all ? 5000 : firstRows).map((row) => (
						<Row key={row.address} row={row} ended={ended} now={now} />
					))}
				</tbody>
			</table>
			{!all && rows.length > firstRows && <Button onPress={() => setAll(true)}>Show all {count(rows.length)}</Button>}
			{all && rows.length > 5000 && <p class="muted">Showing 5,000 of {count(rows.length)}. The log has all.</p>}
			{rows.length > 5 && slow.length > 0 && (
				<p class="muted">Slowest: {slow.map((row) => `${row.address} ${duration(row.ended - row.started)}`).join(", ")}</p>
			)}
			{progress.outputs.length > 0 && <Outputs progress={progress} />}
		</>
	);
}
