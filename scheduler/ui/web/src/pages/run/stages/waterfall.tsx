// SPDX-License-Identifier: MPL-2.0
import { Mark } from "../../../components/status_mark.tsx";
import { duration, timeOf } from "../../../core/format.ts";
import { useNow } from "../../../core/hooks.ts";
import { type Stage, stateLooks } from "./stage_list.ts";

type Bar = { readonly kind: "queue" | "run" | "person"; readonly from: number; readonly until: number };

function barsOf(stage: Stage, now: number): readonly Bar[] {
	const open = stage.state === "waiting" || stage.state === "running" || stage.state === "person";
	const bar = (kind: Bar["kind"], from: string | undefined, until: string | undefined): Bar | undefined => {
		const start = timeOf(from);
		const end = timeOf(until) ?? (open ? now : undefined);
		return start === undefined || end === undefined ? undefined : { kind, from: start, until: Math.max(start, end) };
	};
	return [
		bar("queue", stage.since, stage.started ?? stage.ended),
		bar("run", stage.started, stage.ended),
		bar("person", stage.asked, stage.answered),
	].filter((item) => item !== undefined);
}

// The stages along one axis of time.
export function Waterfall({ list, ended }: { readonly list: readonly Stage[]; readonly ended: boolean }) {
	const now = useNow(ended ? 60_000 : 1000);
	const rows = list.map((stage) => ({ stage, bars: barsOf(stage, now) }));
	const all = rows.flatMap((row) => row.bars);
	const from = Math.min(...all.map((bar) => bar.from));
	const total = Math.max(...all.map((bar) => bar.until)) - from || 1;
	const percent = (ms: number) => `${((100 * ms) / total).toFixed(2)}%`;
	return (
		<table class="waterfall">
			<caption class="sr-only">Stages along the time</caption>
			<tbody>
				{rows.map(({ stage, bars }) => (
					<tr key={stage.name}>
						<th scope="row">
							<Mark tone={stateLooks[stage.state].tone} icon={stateLooks[stage.state].icon}>
								{stage.word}
							</Mark>
						</th>
						<td class="track">
							{bars.map((bar) => (
								<span
									key={bar.kind}
									class={`bar-part ${bar.kind}`}
									style={{ left: percent(bar.from - from), width: percent(bar.until - bar.from) }}
								/>
							))}
							<span class="sr-only">{stage.label}</span>
						</td>
						<td class="number">{bars.length > 0 ? duration(bars.reduce((sum, bar) => sum + bar.until - bar.from, 0)) : stage.label}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
