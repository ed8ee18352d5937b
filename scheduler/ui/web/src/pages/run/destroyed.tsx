// SPDX-License-Identifier: MPL-2.0
import { counted } from "../../core/format.ts";
import { number, type Resource } from "../../core/resource.ts";
import { type Changes, lostOf } from "./changes_summary.ts";

// destroyedBy: how many resources the plan destroys, also to replace them.
export function destroyedBy(plan: Resource | undefined): number {
	return number(plan, "resource-destructions") ?? 0;
}

// Every address that the plan destroys or replaces.
export function Destroyed({ plan, changes }: { readonly plan: Resource | undefined; readonly changes: Changes }) {
	const total = destroyedBy(plan);
	if (total === 0) {
		return null;
	}
	const lost = lostOf(changes.item);
	const replaced = lost.filter((item) => item.replaced).length;
	return (
		<section class="destroyed" aria-label="Destroyed resources">
			<h3 class="failure">
				{counted(total, "resource")} {total === 1 ? "is" : "are"} destroyed{replaced > 0 && `, ${replaced} of them to be replaced`}
			</h3>
			{changes.error && <p class="note failure">The list can't be read: {changes.error.message}</p>}
			{!changes.loading && !changes.error && lost.length !== total && (
				<p class="muted">
					{lost.length} of {total} addresses are listed. The log of the plan has all.
				</p>
			)}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys */}
			<ul tabIndex={0} aria-label="Addresses">
				{lost.map((item) => (
					<li key={item.address}>
						<span class={`glyph ${item.replaced ? "replace" : "failure"}`}>{item.replaced ? "−/+ replace" : "− destroy"}</span>{" "}
						<code>{item.address}</code>
					</li>
				))}
			</ul>
		</section>
	);
}
