// SPDX-License-Identifier: MPL-2.0
import { useMemo } from "preact/hooks";
import { actionOfLog, rankOf, reasonText } from "../../../changes/classes.ts";
import { Glyph } from "../../../changes/glyph.tsx";
import { count, counted } from "../../../core/format.ts";
import type { PlannedChange, Progress } from "./log_events.ts";
import { RowTable } from "./row_table.tsx";

export function planSummary(progress: Progress): string {
	const of = progress.refreshing > progress.refreshed ? ` of ${count(progress.refreshing)}` : "";
	return `${counted(progress.refreshed, "resource")} refreshed${of}, ${counted(progress.found, "change")} found`;
}

function Row({ change }: { readonly change: PlannedChange }) {
	return (
		<tr>
			<td>
				<Glyph action={actionOfLog(change.action)} />
			</td>
			<td class="resource">
				<code>{change.address}</code>
				{change.previous && (
					<span class="muted">
						{" "}
						from <code>{change.previous}</code>
					</span>
				)}
				{change.reason && <span class="muted"> {reasonText(change.reason)}</span>}
			</td>
		</tr>
	);
}

// The changes that a plan has found so far, destructive ones first, then by address: terraform finds them in any order.
export function PlannedRows({ progress }: { readonly progress: Progress }) {
	const rank = (change: PlannedChange) => rankOf(actionOfLog(change.action).key);
	const rows = useMemo(
		() => [...progress.planned].sort((a, b) => rank(a) - rank(b) || a.address.localeCompare(b.address)),
		[progress, progress.found],
	);
	return rows.length === 0 ? null : (
		<RowTable
			caption="Changes found so far"
			columns={["Action", "Resource"]}
			rows={rows}
			row={(change) => <Row key={change.address} change={change} />}
		/>
	);
}
