// SPDX-License-Identifier: MPL-2.0
import { absolute, ago, duration, timeOf } from "../core/format.ts";
import { useNow } from "../core/hooks.ts";
import { timesInUtc } from "../core/preferences.ts";

export function TimeAgo({ time }: { readonly time: unknown }) {
	const now = useNow(5000);
	const at = timeOf(time);
	if (at === undefined) {
		return null;
	}
	return (
		<time dateTime={new Date(at).toISOString()} title={absolute(at, timesInUtc())}>
			{ago(at, now)}
		</time>
	);
}

// The time from `since` to `until`, or until now.
export function Elapsed({ since, until }: { readonly since: unknown; readonly until?: unknown }) {
	const now = useNow(1000);
	const from = timeOf(since);
	return from === undefined ? null : <span class="elapsed">{duration((timeOf(until) ?? now) - from)}</span>;
}
