// SPDX-License-Identifier: MPL-2.0
// Addresses in hostile text. Only http and https become links, and none that hides its host behind a user name.

export type Part = { readonly text: string; readonly href: string };

const longest = 2048;
const maxLinks = 50; // in one text
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls end an address
const addresses = /\bhttps?:\/\/[^\s\x00-\x20<>"'`{}|\\^\x7f-\x9f\u2028\u2029]+/gi;

// safeUrl: the address, or "" if it must not be a link.
export function safeUrl(text: string): string {
	if (text.length > longest || !/^https?:\/\//i.test(text)) {
		return "";
	}
	try {
		const url = new URL(text);
		const isWeb = url.protocol === "https:" || url.protocol === "http:";
		return isWeb && !url.username && !url.password ? url.href : "";
	} catch {
		return "";
	}
}

const occurrences = (text: string, char: string) => text.split(char).length - 1;

// A closing bracket belongs to the address only if it has the opening one; punctuation at the end never does.
function addressEnd(text: string): number {
	const unopened = new Map([
		[")", occurrences(text, ")") - occurrences(text, "(")],
		["]", occurrences(text, "]") - occurrences(text, "[")],
	]);
	let end = text.length;
	for (let last = text[end - 1] ?? ""; last; last = text[end - 1] ?? "") {
		const left = unopened.get(last);
		if (!(left === undefined ? ".,;:!?*" : left > 0 ? last : "").includes(last)) {
			break;
		}
		if (left !== undefined) {
			unopened.set(last, left - 1);
		}
		end -= 1;
	}
	return end;
}

export function linkParts(text: string): readonly Part[] {
	if (!text.includes("://")) {
		return [{ text, href: "" }];
	}
	const parts: Part[] = [];
	let at = 0;
	for (const match of text.matchAll(addresses)) {
		const found = match[0].slice(0, addressEnd(match[0].slice(0, longest)));
		const href = safeUrl(found);
		if (href && parts.length < 2 * maxLinks) {
			parts.push({ text: text.slice(at, match.index), href: "" }, { text: found, href });
			at = match.index + found.length;
		}
	}
	parts.push({ text: text.slice(at), href: "" });
	return parts.filter((part) => part.text);
}
