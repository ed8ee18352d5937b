// SPDX-License-Identifier: MPL-2.0
import { Chip } from "../components/status_mark.tsx";
import { type Tag, tagHref, tagTitle } from "./tag_search.ts";

type Props = {
	readonly tags: readonly Tag[];
	readonly path: string; // of the page that lists what has a tag
	readonly what: string; // that it lists, such as "Modules"
};

// Tags of a row. Each leads to the rows that have it.
export function TagChips({ tags, path, what }: Props) {
	return (
		<>
			{tags.map((tag) => (
				<a key={tag.key} class="above-row" href={tagHref(path, tag)} title={`${what} with the tag ${tagTitle(tag)}`}>
					<Chip>{tagTitle(tag)}</Chip>
				</a>
			))}
		</>
	);
}
