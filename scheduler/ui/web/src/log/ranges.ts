// SPDX-License-Identifier: MPL-2.0
// Ranges of lines in the page's fragment: #plan:L10-L20. Lines are counted from 1 there, and from 0 elsewhere.

export type LineRange = { readonly first: number; readonly last: number };
export type Place = { readonly log: string; readonly range: LineRange };

export function rangeOf(a: number, b: number): LineRange {
	return { first: Math.min(a, b), last: Math.max(a, b) };
}

export function rangeHas(range: LineRange | undefined, line: number): boolean {
	return range !== undefined && line >= range.first && line <= range.last;
}

export function placeFragment(log: string, range: LineRange): string {
	const first = `#${log}:L${range.first + 1}`;
	return range.last === range.first ? first : `${first}-L${range.last + 1}`;
}

// placeOf: undefined for any other fragment.
export function placeOf(fragment: string): Place | undefined {
	const match = /^#([a-z][a-z0-9_-]{0,40}):L(\d{1,12})(?:-L?(\d{1,12}))?$/.exec(fragment);
	const first = Number(match?.[2]) - 1;
	const last = match?.[3] === undefined ? first : Number(match[3]) - 1;
	return match?.[1] && first >= 0 && last >= 0 ? { log: match[1], range: rangeOf(first, last) } : undefined;
}
