// SPDX-License-Identifier: MPL-2.0
// The search and the order of the list of workspaces.

// searchOf: words of the form tag:NAME search tags; the rest is a part of the name.
export function searchOf(query: string): { "search[name]"?: string; "search[tags]"?: string } {
	const words = query.split(/\s+/).filter(Boolean);
	const tags = words.filter((word) => word.startsWith("tag:")).map((word) => word.slice(4));
	const name = words.filter((word) => !word.startsWith("tag:")).join(" ");
	return { ...(name && { "search[name]": name }), ...(tags.length > 0 && { "search[tags]": tags.join(",") }) };
}

// stableOrder keeps the rows where they are when only their order has changed. `moved` counts those that would move.
export function stableOrder(shown: readonly string[], fresh: readonly string[]): { ids: readonly string[]; moved: number } {
	const same = shown.length === fresh.length && fresh.every((id) => shown.includes(id));
	return same ? { ids: shown, moved: fresh.filter((id, i) => shown[i] !== id).length } : { ids: fresh, moved: 0 };
}
