// SPDX-License-Identifier: MPL-2.0
// Computes the rows of a long list that are in view. The height of an element is limited: Firefox ends near 17 million
// pixels. A longer list has the largest height, and its scroll position gives the share of the rows above. The row at a
// third of the list is then a third below the top of the view. Rows may be higher than estimated, as wrapped lines are;
// the first and the last row stay reachable.

export const highest = 16_000_000;

export type Layout = { readonly count: number; readonly row: number; readonly view: number };
// The row at the anchor, how much of it is above the anchor (0 to 1), and the anchor's distance from the view's top.
export type Anchor = { readonly index: number; readonly part: number; readonly top: number };

export function listHeight({ count, row }: Layout): number {
	return Math.min(count * row, highest);
}

function longest(layout: Layout): number {
	return Math.max(listHeight(layout) - layout.view, 0);
}

export function anchorOf(layout: Layout, scroll: number): Anchor {
	const most = longest(layout);
	if (most === 0) {
		return { index: 0, part: 0, top: 0 };
	}
	const share = Math.min(Math.max(scroll / most, 0), 1);
	const at = share * layout.count;
	const index = Math.min(Math.floor(at), layout.count - 1);
	return { index, part: at - index, top: share * layout.view };
}

export type Rows = { readonly first: number; readonly last: number }; // last is not included

// rowsOf: the rows to draw: those that can be in view, and as many as `more` on both sides.
export function rowsOf(layout: Layout, anchor: Anchor, more: number): Rows {
	const above = Math.ceil(anchor.top / layout.row) + more;
	const below = Math.ceil((layout.view - anchor.top) / layout.row) + 1 + more;
	return { first: Math.max(anchor.index - above, 0), last: Math.min(anchor.index + below, layout.count) };
}

// scrollTo: the scroll position that puts the middle of a row at the share `at` of the view, for rows of `row` height.
export function scrollTo(layout: Layout, index: number, at: number): number {
	const most = longest(layout);
	const total = layout.count * layout.row;
	if (most === 0 || total <= layout.view) {
		return 0;
	}
	const wanted = (index + 0.5) * layout.row - at * layout.view;
	return (Math.min(Math.max(wanted / (total - layout.view), 0), 1) * most) as number;
}
