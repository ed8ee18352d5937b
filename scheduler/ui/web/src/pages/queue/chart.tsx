// SPDX-License-Identifier: MPL-2.0
import { useId } from "preact/hooks";
import { Fold } from "../../components/fold.tsx";
import { absolute } from "../../core/format.ts";
import { timesInUtc } from "../../core/preferences.ts";
import { pathOf, type Series, type Span, tableSteps, topOf } from "./samples.ts";

export type Line = { readonly word: string; readonly values: Series };

type Props = {
	readonly title: string;
	readonly lines: readonly Line[]; // at most three
	readonly span: Span;
	readonly shown: (value: number) => string;
};

const clock = (seconds: number) => absolute(seconds * 1000, timesInUtc()).slice(11, 16);

// Lines over time. They differ in colour and in their dashes, and a table has the same numbers.
export function Chart({ title, lines, span, shown }: Props) {
	const id = useId();
	const top = topOf(lines.map((line) => line.values));
	const empty = lines.every((line) => line.values.every((value) => value === null));
	return (
		<section class="chart" aria-labelledby={id}>
			<h2 id={id}>{title}</h2>
			<ul class="chart-legend">
				{lines.map((line, i) => (
					<li key={line.word}>
						<svg class="chart-key" viewBox="0 0 24 4" aria-hidden="true">
							<path class={`line-${i}`} d="M0 2L24 2" />
						</svg>
						{line.word}
					</li>
				))}
			</ul>
			<div class="chart-box">
				<span class="chart-top">{shown(top)}</span>
				<span class="chart-bottom">0</span>
				<svg class="chart-lines" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={summary(title, lines, shown)}>
					<path class="chart-grid" d="M0 0L100 0M0 50L100 50M0 100L100 100" />
					{lines.map((line, i) => (
						<path key={line.word} class={`line-${i}`} d={pathOf(line.values, top)} />
					))}
				</svg>
				{empty && <p class="chart-empty muted">No plan has started in this time</p>}
				<span class="chart-from">{clock(span.from)}</span>
				<span class="chart-to">{clock(span.to)}</span>
			</div>
			<Fold open={false} summary={`${title} as a table`}>
				{() => <ChartTable title={title} lines={lines} span={span} shown={shown} />}
			</Fold>
		</section>
	);
}

function summary(title: string, lines: readonly Line[], shown: (value: number) => string): string {
	const parts = lines.map(({ word, values }) => {
		const known = values.filter((value) => value !== null);
		const last = values.at(-1);
		const now = last === null || last === undefined ? "nothing" : shown(last);
		return known.length ? `${word}: ${now} now, at most ${shown(Math.max(...known))}` : `${word}: nothing`;
	});
	return `${title}. ${parts.join("; ")}.`;
}

function ChartTable({ title, lines, span, shown }: Props) {
	return (
		<table>
			<caption class="sr-only">{title}</caption>
			<thead>
				<tr>
					<th scope="col">Time</th>
					{lines.map((line) => (
						<th key={line.word} scope="col" class="number">
							{line.word}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{tableSteps(lines[0]?.values.length ?? 0).map((step) => (
					<tr key={step}>
						<th scope="row">{clock(span.from + step * span.step)}</th>
						{lines.map((line) => {
							const value = line.values[step];
							return (
								<td key={line.word} class="number">
									{value === null || value === undefined ? "–" : shown(value)}
								</td>
							);
						})}
					</tr>
				))}
			</tbody>
		</table>
	);
}
