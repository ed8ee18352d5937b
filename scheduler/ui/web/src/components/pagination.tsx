// SPDX-License-Identifier: MPL-2.0
import { count } from "../core/format.ts";
import type { PageNumbers } from "../core/resource.ts";
import { addressWith } from "../core/router.ts";

const addressOf = (page: number) => addressWith({ page: page > 1 ? String(page) : "" });

// The pages of a list, as links with ?page=.
export function Pagination({ pages }: { readonly pages: PageNumbers | undefined }) {
	if (!pages || (!pages["prev-page"] && !pages["next-page"])) {
		return null;
	}
	const total = pages["total-pages"];
	return (
		<nav class="pagination" aria-label="Pages">
			{pages["prev-page"] ? <a href={addressOf(pages["prev-page"])}>Previous</a> : <span class="muted">Previous</span>}
			<span>
				Page {count(pages["current-page"])}
				{total === undefined ? "" : ` of ${count(total)}`}
			</span>
			{pages["next-page"] ? <a href={addressOf(pages["next-page"])}>Next</a> : <span class="muted">Next</span>}
		</nav>
	);
}
