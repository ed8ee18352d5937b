// SPDX-License-Identifier: MPL-2.0
import { list, type Resource, text } from "../core/resource.ts";

// The scheduler's sentence about why a run waits, with its links. `above`: the links stand in a row that is a link.
export function WaitText({ wait, above = false }: { readonly wait: Resource; readonly above?: boolean }) {
	return (
		<>
			{waitParts(wait).map((part) =>
				part.href ? (
					<a href={part.href} {...(above && { class: "above-row" })}>
						{part.text}
					</a>
				) : (
					part.text
				),
			)}
		</>
	);
}

export type WaitPart = { readonly text: string; readonly href?: string };

// Only pages of this site: texts of users never become other links.
const isPage = (href: unknown): href is string => typeof href === "string" && href.startsWith("/app/");

// waitParts: the sentence in parts, of which those with `href` are links. The links come in the order of the sentence.
export function waitParts(wait: Resource): readonly WaitPart[] {
	const parts: WaitPart[] = [];
	let rest = text(wait, "text");
	for (const { text: linked, href } of list(wait, "links") as readonly Record<string, unknown>[]) {
		const at = typeof linked === "string" ? rest.indexOf(linked) : -1;
		if (typeof linked !== "string" || at < 0 || !isPage(href)) {
			continue;
		}
		parts.push({ text: rest.slice(0, at) }, { text: linked, href });
		rest = rest.slice(at + linked.length);
	}
	return [...parts, { text: rest }].filter((part) => part.text !== "");
}
