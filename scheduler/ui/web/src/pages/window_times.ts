// SPDX-License-Identifier: MPL-2.0
// Days and times of maintenance windows as texts.

export const weekDays = [
	["mon", "Monday"],
	["tue", "Tuesday"],
	["wed", "Wednesday"],
	["thu", "Thursday"],
	["fri", "Friday"],
	["sat", "Saturday"],
	["sun", "Sunday"],
] as const;

// windowDays: "Mon, Tue", in the order of a week.
export function windowDays(chosen: readonly string[]): string {
	return weekDays
		.filter(([key]) => chosen.includes(key))
		.map(([, word]) => word.slice(0, 3))
		.join(", ");
}

// windowEnd: the local time at which a window ends, which may be on the next day.
export function windowEnd(start: string, minutes: number): string {
	const [hour = 0, minute = 0] = start.split(":").map(Number);
	const end = hour * 60 + minute + minutes;
	const clock = `${String(Math.floor(end / 60) % 24).padStart(2, "0")}:${String(end % 60).padStart(2, "0")}`;
	return end >= 1440 ? `${clock} of the next day` : clock;
}
