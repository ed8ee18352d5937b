// SPDX-License-Identifier: MPL-2.0
// Times, durations and numbers as texts.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const two = (value: number) => String(value).padStart(2, "0");

// duration: "0.4 s", "4s", "1m 04s", "2h 05m", "3d 04h". Zero and less is "0s".
export function duration(ms: number): string {
	if (ms > 0 && ms < second) {
		return `${Math.max(0.1, Math.floor(ms / 100) / 10)} s`;
	}
	const left = Math.max(0, Math.floor(ms / second) * second);
	const shown = (large: number, one: string, small: number, other: string) =>
		`${Math.floor(left / large)}${one} ${two(Math.floor((left % large) / small))}${other}`;
	if (left < minute) {
		return `${left / second}s`;
	}
	if (left < hour) {
		return shown(minute, "m", second, "s");
	}
	return left < day ? shown(hour, "h", minute, "m") : shown(day, "d", hour, "h");
}

// ago: "now", "5 s ago", "3 min ago", "2 h ago", "4 days ago", then the date.
export function ago(time: number, now: number): string {
	const passed = now - time;
	if (passed < 0 || passed < 5 * second) {
		return passed < -5 * second ? `in ${duration(-passed)}` : "now";
	}
	if (passed < minute) {
		return `${Math.floor(passed / second)} s ago`;
	}
	if (passed < hour) {
		return `${Math.floor(passed / minute)} min ago`;
	}
	if (passed < day) {
		return `${Math.floor(passed / hour)} h ago`;
	}
	if (passed < 30 * day) {
		const days = Math.floor(passed / day);
		return days === 1 ? "1 day ago" : `${days} days ago`;
	}
	return absolute(time, true).slice(0, 10);
}

// wallTime: "2026-11-23 05:36:31.000", as clocks show it.
export function wallTime(time: number, utc: boolean): string {
	const shift = utc ? 0 : new Date(time).getTimezoneOffset() * minute;
	return new Date(time - shift).toISOString().slice(0, -1).replace("T", " ");
}

// absolute: "2026-11-23 05:36:31 UTC", or in the browser's zone.
export function absolute(time: number, utc: boolean): string {
	const offset = -new Date(time).getTimezoneOffset();
	const zone = `${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
	return `${wallTime(time, utc).slice(0, 19)} ${utc ? "UTC" : zone}`;
}

// timeOf: a time of the API in milliseconds, or undefined.
export function timeOf(value: unknown): number | undefined {
	const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
	return Number.isNaN(time) ? undefined : time;
}

// momentOf: a time of a day, in UTC or in the browser's zone, for the API; undefined for no day.
export function momentOf(day: string, time: string, utc: boolean): string | undefined {
	const at = timeOf(`${day}T${time}${utc ? "Z" : ""}`);
	return at === undefined ? undefined : new Date(at).toISOString();
}

const grouped = new Intl.NumberFormat("en-US");

export function count(value: number): string {
	return grouped.format(value);
}

// counted: "1 run", "3 runs".
export function counted(value: number, one: string, many = `${one}s`): string {
	return `${count(value)} ${value === 1 ? one : many}`;
}

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

export function size(bytes: number): string {
	let value = bytes;
	let unit = 0;
	while (value >= 1024 && unit < units.length - 1) {
		value /= 1024;
		unit += 1;
	}
	return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

function amount(value: string, currency: string): string {
	const digits = Math.abs(Number(value)).toFixed(2);
	return currency && currency !== "USD" ? `${digits} ${currency}` : `$${digits}`;
}

// money: a decimal text of the API, such as "$12.34" or "12.34 EUR".
export function money(value: string, currency = ""): string {
	return Number.isFinite(Number(value)) ? `${Number(value) < 0 ? "−" : ""}${amount(value, currency)}` : value;
}

// moneyDelta: the same with a sign, such as "+$12.34".
export function moneyDelta(value: string, currency = ""): string {
	const number = Number(value);
	return Number.isFinite(number) ? `${number < 0 ? "−" : "+"}${amount(value, currency)}` : value;
}

// shortId: "run-AbCd…" without the middle, for rows.
export function shortId(id: string): string {
	return id.length > 14 ? `${id.slice(0, 12)}…` : id;
}

// firstLine: the first line that has a text.
export function firstLine(message: string): string {
	return (message.trim().split(/[\r\n\u2028\u2029]/, 1)[0] ?? "").trim();
}
