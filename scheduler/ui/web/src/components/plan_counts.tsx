// SPDX-License-Identifier: MPL-2.0
import { number, type Resource, text } from "../core/resource.ts";

const counts = [
	["+", "to add", "resource-additions", true],
	["~", "to change", "resource-changes", true],
	["−", "to destroy", "resource-destructions", true],
	["import", "to import", "resource-imports", false],
] as const;

// The counts of a finished plan. The glyph stands with its word for screen readers.
export function PlanCounts({ plan }: { readonly plan: Resource | undefined }) {
	if (text(plan, "status") !== "finished") {
		return null;
	}
	return (
		<span class="counts">
			{counts.map(([glyph, word, attribute, always]) => {
				const value = number(plan, attribute) ?? 0;
				return always || value > 0 ? (
					<span key={word} class={glyph === "−" && value ? "failure" : value ? "" : "muted"} title={`${value} ${word}`}>
						<span aria-hidden="true">{glyph}</span>
						{value} <span class="sr-only">{word}</span>
					</span>
				) : null;
			})}
		</span>
	);
}
