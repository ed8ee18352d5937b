// SPDX-License-Identifier: MPL-2.0
// Two texts line by line, with the words that differ. jsdiff loads at the first use.

import type { Change as Piece } from "diff";
import { partLoad } from "../core/part.ts";

export type Word = { readonly text: string; readonly differs: boolean };
// A pair of lines; undefined: the side has no such line. "skipped" stands for lines that are the same.
export type LinePair =
	| { readonly kind: "lines"; readonly before: readonly Word[] | undefined; readonly after: readonly Word[] | undefined }
	| { readonly kind: "skipped"; readonly count: number };

export const maxCompared = 20_000; // characters of both texts
const longestLine = 2000; // whose words are compared
const timeoutMs = 200;
const context = 3;

export type Differ = {
	readonly lines: (before: string, after: string) => readonly Piece[] | undefined;
	readonly words: (before: string, after: string) => readonly Piece[] | undefined;
};

export async function differLoad(): Promise<Differ> {
	const { diffLines, diffWordsWithSpace } = await partLoad(() => import("diff"));
	return {
		lines: (before, after) => diffLines(before, after, { timeout: timeoutMs }),
		words: (before, after) => diffWordsWithSpace(before, after, { timeout: timeoutMs }),
	};
}

export function isComparable(before: string, after: string): boolean {
	return before.length + after.length <= maxCompared;
}

// linesOf: a text's lines. A newline at the end makes no line; if it is missing, the line says so.
export function linesOf(text: string): readonly string[] {
	const lines = text.split("\n");
	if (lines.at(-1) === "") {
		lines.pop();
	}
	return lines;
}

const whole = (text: string, differs: boolean): readonly Word[] => [{ text, differs }];

function pairWords(before: string, after: string, differ: Differ): { before: readonly Word[]; after: readonly Word[] } {
	const pieces = before.length + after.length <= longestLine ? differ.words(before, after) : undefined;
	if (!pieces?.some((piece) => !piece.added && !piece.removed && piece.value.trim())) {
		return { before: whole(before, true), after: whole(after, true) };
	}
	const side = (left: "added" | "removed") =>
		pieces.filter((piece) => !piece[left]).map((piece) => ({ text: piece.value, differs: piece.added || piece.removed }));
	return { before: side("added"), after: side("removed") };
}

function changedPairs(before: readonly string[], after: readonly string[], differ: Differ): LinePair[] {
	return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => {
		const old = before[i];
		const next = after[i];
		if (old !== undefined && next !== undefined) {
			return { kind: "lines" as const, ...pairWords(old, next, differ) };
		}
		return {
			kind: "lines" as const,
			before: old === undefined ? undefined : whole(old, true),
			after: next === undefined ? undefined : whole(next, true),
		};
	});
}

// Of many equal lines, those next to a change remain.
function samePairs(lines: readonly string[], isFirst: boolean, isLast: boolean): LinePair[] {
	const head = isFirst ? 0 : context;
	const tail = isLast ? 0 : context;
	const pair = (line: string): LinePair => ({ kind: "lines", before: whole(line, false), after: whole(line, false) });
	if (lines.length <= head + tail + 2) {
		return lines.map(pair);
	}
	const count = lines.length - head - tail;
	return [...lines.slice(0, head).map(pair), { kind: "skipped", count }, ...lines.slice(lines.length - tail).map(pair)];
}

// textPairs: undefined if the texts take too long to compare.
export function textPairs(before: string, after: string, differ: Differ): readonly LinePair[] | undefined {
	const pieces = isComparable(before, after) ? differ.lines(before, after) : undefined;
	if (!pieces) {
		return undefined;
	}
	const pairs: LinePair[] = [];
	for (let i = 0; i < pieces.length; i++) {
		const piece = pieces[i] as Piece;
		const lines = linesOf(piece.value);
		const next = pieces[i + 1];
		if (!piece.added && !piece.removed) {
			pairs.push(...samePairs(lines, i === 0, i === pieces.length - 1));
		} else if (next && (piece.removed ? next.added : next.removed)) {
			const other = linesOf(next.value);
			pairs.push(...(piece.removed ? changedPairs(lines, other, differ) : changedPairs(other, lines, differ)));
			i += 1;
		} else {
			pairs.push(...(piece.removed ? changedPairs(lines, [], differ) : changedPairs([], lines, differ)));
		}
	}
	return pairs;
}
