// SPDX-License-Identifier: MPL-2.0
// The tags of a task's outcome: severity and status first.

export type Tag = { readonly label: string; readonly value: string; readonly level: string };

const first = ["severity", "status"];

function place(tag: Tag): number {
	const at = first.indexOf(tag.label.toLowerCase());
	return at < 0 ? first.length : at;
}

const maxTags = 50;

// tagsOf: a tag's value is a list of {label, level}, one of these, or a text.
export function tagsOf(tags: readonly unknown[]): readonly Tag[] {
	return tags
		.flatMap((tag) => {
			const { label, value } = (tag ?? {}) as { label?: unknown; value?: unknown };
			const values = Array.isArray(value) ? value : [value];
			return values.map((item) => {
				const object = (item !== null && typeof item === "object" ? item : { label: item }) as { label?: unknown; level?: unknown };
				return { label: String(label ?? ""), value: String(object.label ?? ""), level: String(object.level ?? "none") };
			});
		})
		.slice(0, maxTags)
		.sort((a, b) => place(a) - place(b));
}
