// SPDX-License-Identifier: MPL-2.0
// The time at a line: absolute, since the start of the log, or since the line before.

import { wallTime } from "../core/format.ts";

export type TimeMode = "off" | "absolute" | "start" | "gap";
export const timeModes: readonly (readonly [TimeMode, string])[] = [
	["off", "No times"],
	["absolute", "Time"],
	["start", "Since start"],
	["gap", "Since line before"],
];

// seconds: "+0.000s", "+61.250s".
function seconds(ms: number): string {
	return `${ms < 0 ? "−" : "+"}${(Math.abs(ms) / 1000).toFixed(3)}s`;
}

export function clock(time: number, utc: boolean): string {
	return wallTime(time, utc).slice(11);
}

export type Times = { readonly at: number | undefined; readonly start: number | undefined; readonly before: number | undefined };

export function timeText(mode: TimeMode, times: Times, utc: boolean): string {
	if (mode === "off" || times.at === undefined) {
		return "";
	}
	if (mode === "absolute") {
		return clock(times.at, utc);
	}
	const since = mode === "start" ? times.start : times.before;
	return since === undefined ? "" : seconds(times.at - since);
}
