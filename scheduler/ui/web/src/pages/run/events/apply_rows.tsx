// SPDX-License-Identifier: MPL-2.0
import { actionOfLog } from "../../../changes/classes.ts";
import { Glyph } from "../../../changes/glyph.tsx";
import { Mark } from "../../../components/status_mark.tsx";
import { count, counted, duration } from "../../../core/format.ts";
import { useNow } from "../../../core/hooks.ts";
import type { Tone } from "../../../core/status.ts";
import { type ApplyRow, type Progress, type RowState, rowsSorted, slowest, tally } from "./log_events.ts";
import { RowTable } from "./row_table.tsx";

const looks: Readonly<Record<RowState, readonly [Tone, string, string?]>> = {
	pending: ["muted", "waiting"],
	running: ["running", "in progress"],
	provisioning: ["running", "provisioning"],
	done: ["success", "done"],
	failed: ["failure", "failed"],
	tainted: ["failure", "tainted"],
};

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
			<td>
				<Glyph action={actionOfLog(row.action)} />
			</td>
			<td class="resource">
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

// appliedText: for screen readers.
export function appliedText(progress: Progress): string {
	const { total, done, failed } = tally(progress);
	return total === 0 ? "" : `apply: ${count(done + failed)} of ${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ""}`;
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
	const now = useNow(ended ? 60_000 : 1000);
	const rows = rowsSorted(progress);
	const slow = slowest(progress, 5);
	return (
		<>
			<RowTable
				caption="Resources of the apply"
				columns={["State", "Action", "Resource", "Time"]}
				rows={rows}
				row={(row) => <Row key={row.address} row={row} ended={ended} now={now} />}
			/>
			{rows.length > 5 && slow.length > 0 && (
				<p class="muted">Slowest: {slow.map((row) => `${row.address} ${duration(row.ended - row.started)}`).join(", ")}</p>
			)}
			{progress.outputs.length > 0 && <Outputs progress={progress} />}
		</>
	);
}
