// SPDX-License-Identifier: MPL-2.0
// The samples of a queue: one row a minute, as series of numbers for charts.

export type Sample = readonly (number | null)[];
export type Series = readonly (number | null)[];
export type Span = { readonly from: number; readonly to: number; readonly step: number }; // in seconds since 1970

// The places of the numbers in a sample.
export const columns = { pending: 1, running: 2, waiting: 3, slots: 4, oldest: 5, p50: 6, p95: 7, errors: 8 } as const;

const minute = 60;

export const ranges = {
	"1h": { word: "1 h", length: 3600, step: minute },
	"24h": { word: "24 h", length: 24 * 3600, step: 10 * minute },
} as const;

export type RangeKey = keyof typeof ranges;

export function rangeOf(value: string | null): RangeKey {
	return value === "24h" ? "24h" : "1h";
}

// spanOf ends with the step of `now`.
export function spanOf(range: RangeKey, now: number): Span {
	const { length, step } = ranges[range];
	const to = Math.floor(now / step) * step;
	return { from: to - length + step, to, step };
}

export function samplesOf(value: unknown): readonly Sample[] {
	return Array.isArray(value) ? value.filter((row): row is Sample => Array.isArray(row) && typeof row[0] === "number") : [];
}

// series: the largest value of each step. A step without a sample has `missing`.
export function series(samples: readonly Sample[], column: number, span: Span, missing: 0 | null): Series {
	const values: (number | null)[] = Array(Math.round((span.to - span.from) / span.step) + 1).fill(missing);
	for (const sample of samples) {
		const at = Math.floor(((sample[0] ?? 0) - span.from) / span.step);
		const value = sample[column];
		if (at >= 0 && at < values.length && typeof value === "number") {
			values[at] = Math.max(values[at] ?? 0, value);
		}
	}
	return values;
}

// topOf: a round number that is at least as large as all values.
export function topOf(lines: readonly Series[]): number {
	const most = Math.max(1, ...lines.flatMap((line) => line.map((value) => value ?? 0)));
	const power = 10 ** Math.floor(Math.log10(most));
	const unit = [1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10;
	return unit * power;
}

// pathOf: the line in a box of 100 by 100. A value that is missing interrupts it.
export function pathOf(line: Series, top: number): string {
	const parts: string[] = [];
	let drawn = false;
	line.forEach((value, i) => {
		if (value !== null) {
			const x = line.length > 1 ? (i / (line.length - 1)) * 100 : 0;
			parts.push(`${drawn ? "L" : "M"}${x.toFixed(2)} ${(100 - (value / top) * 100).toFixed(2)}`);
		}
		drawn = value !== null;
	});
	return parts.join("");
}

// tableSteps: about twelve places of the series, and always the last.
export function tableSteps(length: number): readonly number[] {
	const every = Math.max(1, Math.ceil(length / 12));
	const steps: number[] = [];
	for (let i = length - 1; i >= 0; i -= every) {
		steps.unshift(i);
	}
	return steps;
}
