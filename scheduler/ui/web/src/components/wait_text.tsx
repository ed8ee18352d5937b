// SPDX-License-Identifier: MPL-2.0
import type { Resource } from "../core/resource.ts";
import { waitParts } from "./wait_parts.ts";

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
