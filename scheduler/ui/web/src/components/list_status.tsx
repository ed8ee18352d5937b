// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { counted } from "../core/format.ts";
import type { StableRows } from "../core/stable_rows.ts";

type Props = { readonly rows: StableRows; readonly word: string; readonly children: ComponentChildren };

// The line above a list. It has its place before there is something to say, so that the rows below do not move.
export function ListStatus({ rows, word, children }: Props) {
	return (
		<div class="list-status">
			<span>{children}</span>
			<span role="status">
				{rows.changed > 0 && (
					<button type="button" class="button plain" onClick={rows.renew}>
						{counted(rows.changed, "row")} changed, {word}
					</button>
				)}
			</span>
		</div>
	);
}
