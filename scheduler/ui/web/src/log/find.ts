// SPDX-License-Identifier: MPL-2.0
// What a search looks for, and where it is in a text.

import { type Match, Pattern, PatternError } from "./pattern.ts";

export type Query = { readonly text: string; readonly regex: boolean; readonly matchCase: boolean };
export type Matcher = {
	readonly test: (text: string) => boolean;
	readonly find: (text: string, from: number) => Match | undefined;
};
export type Found = { readonly matcher: Matcher; readonly error: "" } | { readonly matcher: undefined; readonly error: string };

const maxMatches = 1000; // in one text

// A pattern of plain characters takes a linear time, and needs no copy of the text in lower case.
function literal(query: Query): Matcher {
	const escaped = query.text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
	const any = new RegExp(escaped, query.matchCase ? "" : "i");
	const next = new RegExp(escaped, query.matchCase ? "g" : "gi");
	return {
		test: (text) => any.test(text),
		find: (text, from) => {
			next.lastIndex = from;
			const match = next.exec(text);
			return match ? { from: match.index, to: match.index + match[0].length } : undefined;
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
	for (let at = 0; matcher && at <= text.length && found.length < maxMatches; ) {
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
