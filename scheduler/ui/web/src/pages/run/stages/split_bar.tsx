// SPDX-License-Identifier: MPL-2.0
import { duration } from "../../../core/format.ts";
import { useNow } from "../../../core/hooks.ts";
import { type Stage, timeSplit } from "./stage_list.ts";

// How the time of the run was spent: in queues, at work, and waiting for persons.
export function SplitBar({ list, ended }: { readonly list: readonly Stage[]; readonly ended: boolean }) {
	const split = timeSplit(list, useNow(ended ? 60_000 : 1000));
	const total = split.queue + split.run + split.person;
	const parts = [
		["queue", "in queues", split.queue],
		["run", "at work", split.run],
		["person", "waiting for a person", split.person],
	] as const;
	return total < 1000 ? null : (
		<div class="split">
			<div class="split-bar" aria-hidden="true">
				{parts.map(([key, , value]) => value > 0 && <span key={key} class={key} style={{ flexGrow: value / total }} />)}
			</div>
			<p class="muted">
				{parts
					.filter(([, , value]) => value >= 1000)
					.map(([key, word, value]) => (
						<span key={key}>
							<span class={`split-key ${key}`} aria-hidden="true" /> {duration(value)} {word}
						</span>
					))}
			</p>
		</div>
	);
}
