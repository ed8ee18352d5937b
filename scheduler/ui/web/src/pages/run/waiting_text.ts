// SPDX-License-Identifier: MPL-2.0
// Ids of runs in a sentence of the scheduler.

export type Part = { readonly text: string; readonly run?: string };

// partsWithRuns: the sentence in parts, of which those with `run` are ids of runs.
export function partsWithRuns(sentence: string): readonly Part[] {
	return sentence
		.split(/\b(run-[A-Za-z0-9]{16})\b/)
		.map((text, i) => (i % 2 === 1 ? { text, run: text } : { text }))
		.filter((part) => part.text !== "");
}
