// SPDX-License-Identifier: MPL-2.0
import { type Resource, text } from "../core/resource.ts";
import { countsOf } from "./counts.ts";

// Those that are 0 are left out, unless they are always shown.
const counts = [
	{ key: "create", glyph: "+", word: "to add", tone: "success", always: true },
	{ key: "update", glyph: "~", word: "to change", tone: "running", always: true },
	{ key: "replace", glyph: "−/+", word: "to replace", tone: "replace", always: false },
	{ key: "delete", glyph: "−", word: "to destroy", tone: "failure", always: true },
	{ key: "import", glyph: "import ", word: "to import", tone: "", always: false },
	{ key: "move", glyph: "move ", word: "to move", tone: "", always: false },
] as const;

type Props = { readonly plan: Resource | undefined; readonly changes?: Resource | undefined; readonly words?: boolean };

// The counts of a finished plan: glyphs with their words, which only screen readers have unless `words` is set.
export function PlanCounts({ plan, changes, words = false }: Props) {
	if (text(plan, "status") !== "finished") {
		return null;
	}
	const counted = countsOf(plan, changes);
	return (
		<span class="counts">
			{counts
				.filter(({ key, always }) => always || counted[key] > 0)
				.map(({ key, glyph, word, tone }) => (
					<span key={key} class={`count-of ${counted[key] > 0 ? tone : "muted"}`} title={`${counted[key]} ${word}`}>
						<span aria-hidden="true">{words && glyph.endsWith(" ") ? "" : glyph}</span>
						{counted[key]} <span class={words ? "" : "sr-only"}>{word}</span>{" "}
					</span>
				))}
		</span>
	);
}
