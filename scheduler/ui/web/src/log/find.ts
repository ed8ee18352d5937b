// SPDX-License-Identifier: MPL-2.0
// What a search looks for, and where it is in a text.

import { type Match, Pattern, PatternError } from "./pattern.ts";

export type Query = { readonly text: string; readonly regex: boolean; readonly matchCase: boolean };
export type Matcher = {
	readonly test: (text: string) => boolean;
	readonly find: (text: string, from: number) => Match | undefined;
};
export type Found = { readonly matcher: Matcher; readonly error: "" } | { readonly matcher: undefined; readonly error: string };

const mostMatches = 1000; // in one text

// Lower case keeps the positions only if it keeps the length.
function lower(text: string): string {
	const lowered = text.toLowerCase();
	return lowered.length === text.length ? lowered : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function literal(query: Query): Matcher {
	const wanted = query.matchCase ? query.text : lower(query.text);
	const shown = query.matchCase ? (text: string) => text : lower;
	return {
		test: (text) => shown(text).includes(wanted),
		find: (text, from) => {
			const at = shown(text).indexOf(wanted, from);
			return at < 0 ? undefined : { from: at, to: at + wanted.length };
		},
	};
}

// matcherOf: no matcher and no error for an empty text.
export function matcherOf(query: Query): Found {
	if (!query.text) {
		return { matcher: undefined, error: "" };
	}
	if (!query.regex) {
		return { matcher: literal(query), error: "" };
	}
	try {
		const pattern = new Pattern(query.text, !query.matchCase);
		return { matcher: { test: (text) => pattern.test(text), find: (text, from) => pattern.find(text, from) }, error: "" };
	} catch (error) {
		if (error instanceof PatternError) {
			return { matcher: undefined, error: error.message };
		}
		throw error;
	}
}

export function matchesIn(matcher: Matcher | undefined, text: string): readonly Match[] {
	const found: Match[] = [];
	for (let at = 0; matcher && at <= text.length && found.length < mostMatches; ) {
		const match = matcher.find(text, at);
		if (!match) {
			break;
		}
		if (match.to > match.from) {
			found.push(match);
		}
		at = Math.max(match.to, match.from + 1);
	}
	return found;
}
