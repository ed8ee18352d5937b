// SPDX-License-Identifier: MPL-2.0
// Times of schedules in zones other than the browser's.

export function zoneHere(): string {
	return new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

// zoneNames: suggestions for a form. The server knows more, and decides.
export function zoneNames(): readonly string[] {
	return ["UTC", ...Intl.supportedValuesOf("timeZone")];
}

// timeInZone: "Sat 2026-11-28 03:00". Empty for a zone that this browser does not know.
export function timeInZone(time: number, zone: string): string {
	try {
		const format = new Intl.DateTimeFormat("en-GB", {
			timeZone: zone,
			weekday: "short",
			year: "numeric",
			month: "2-digit",
			day: "2-digit",
			hour: "2-digit",
			minute: "2-digit",
			hourCycle: "h23",
		});
		const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
		return `${part.weekday} ${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}`;
	} catch {
		return "";
	}
}
