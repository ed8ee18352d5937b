// SPDX-License-Identifier: MPL-2.0
// Tags in the search of a list: tag:KEY has any value, tag:KEY=VALUE that value. Quotes hold what has a space or "=".

import type { Parameters } from "../core/api.ts";
import { linkOf, type Resource, text } from "../core/resource.ts";

export type Tag = { readonly key: string; readonly value: string };

export function tagOf(binding: Resource): Tag {
	return { key: text(binding, "key"), value: text(binding, "value") };
}

// isOwn: whether the organization has the tags of the object. Others, with which it is shared, have their own.
export function isOwn(org: string, item: Resource): boolean {
	return linkOf(item, "organization")?.id.toLowerCase() === org.toLowerCase();
}

export function tagTitle({ key, value }: Tag): string {
	return value ? `${key}: ${value}` : key;
}

const quoted = (part: string) => (/[\s=]/.test(part) ? `"${part}"` : part);

// tagWord: the word that searches the tag. Tags have no quotes.
export function tagWord({ key, value }: Tag): string {
	return `tag:${quoted(key)}${value && `=${quoted(value)}`}`;
}

// tagHref: the list at the path, searched by the tag.
export function tagHref(path: string, tag: Tag): string {
	return `${path}?q=${encodeURIComponent(tagWord(tag))}`;
}

const word = /(?:^|\s)tag:(?:"([^"]*)(?:"|$)|([^\s"=]*))(?:=(?:"([^"]*)(?:"|$)|([^\s"]*)))?(?=\s|$)/g;

// searchParts: the tags of a search, and its other words.
export function searchParts(query: string): { readonly words: string; readonly tags: readonly Tag[] } {
	const tags = [...query.matchAll(word)].map(([, key, plainKey, value, plainValue]) => ({
		key: key ?? plainKey ?? "",
		value: value ?? plainValue ?? "",
	}));
	const words = query.replace(word, " ").split(/\s+/).filter(Boolean).join(" ");
	return { words, tags: tags.filter(({ key }) => key) };
}

// tagFilters: the parameters of a list for what has all of the tags.
export function tagFilters(tags: readonly Tag[]): Parameters {
	return Object.fromEntries(
		tags.flatMap(({ key, value }, place) => [
			[`filter[tagged][${place}][key]`, key],
			[`filter[tagged][${place}][value]`, value],
		]),
	);
}
