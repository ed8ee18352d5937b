// SPDX-License-Identifier: MPL-2.0

import { CopyButton } from "../components/copy.tsx";
import { counted } from "../core/format.ts";
import { actionOf, reasonText } from "./classes.ts";
import { Drawer } from "./drawer.tsx";
import { Glyph } from "./glyph.tsx";
import { type Entry, type Item, placeFragment } from "./items.ts";
import type { ChangeRow, CheckRow } from "./summary.ts";

type Place = { readonly at: number; readonly of: number };
type HeadProps = Place & { readonly entry: Entry & { readonly kind: "head" }; readonly onToggle: () => void };

const indent = (depth: number) => ({ paddingLeft: `${Math.min(depth, 12) * 16 + 8}px` });

export function GroupHead({ entry, at, of, onToggle }: HeadProps) {
	return (
		// biome-ignore lint/a11y/useSemanticElements: see the list
		<div role="listitem" class="change-head" data-at={at} aria-setsize={of} aria-posinset={at + 1} style={indent(entry.depth)}>
			<button type="button" class="group-toggle" aria-expanded={entry.open} onClick={onToggle}>
				<span aria-hidden="true">{entry.open ? "▾" : "▸"}</span> {entry.title} <span class="count">{entry.count}</span>
			</button>
		</div>
	);
}

// The module of an address is dimmed.
function Address({ row }: { readonly row: ChangeRow | CheckRow }) {
	const module = row.list === "checks" ? "" : row.module;
	const inModule = module && row.address.startsWith(`${module}.`);
	return (
		<bdi>
			{inModule && <span class="muted">{module}.</span>}
			{inModule ? row.address.slice(module.length + 1) : row.address || "(no address)"}
		</bdi>
	);
}

function changedText(row: ChangeRow): string {
	if (row.changedCount === 0 || row.list === "outputs") {
		return "";
	}
	return row.changedCount === 1 && row.changed.length === 1 ? `${row.changed[0]}` : counted(row.changedCount, "attribute");
}

function ChangeFacts({ row }: { readonly row: ChangeRow }) {
	return (
		<>
			{row.badges.map((badge) => (
				<span key={badge} class="chip">
					{badge}
				</span>
			))}
			{row.deposed && <span class="chip wait">deposed {row.deposed}</span>}
			{row.relevant && <span class="chip wait">may have led to changes of this plan</span>}
			{row.previousAddress && (
				<span class="muted">
					from <bdi>{row.previousAddress}</bdi>
				</span>
			)}
			{(row.reason || row.deferredReason) && <span class="muted">{reasonText(row.deferredReason || row.reason)}</span>}
			{changedText(row) && <span class="count">{changedText(row)}</span>}
		</>
	);
}

type RowProps = Place & {
	readonly rowKey: string;
	readonly item: Item;
	readonly depth: number;
	readonly plan: string;
	readonly open: boolean;
	readonly onToggle: () => void;
};

const checkTones: Readonly<Record<string, string>> = { fail: "failure", error: "failure" };

export function ItemRow({ rowKey, item, depth, at, of, plan, open, onToggle }: RowProps) {
	const { row } = item;
	const action = row.list === "checks" ? { glyph: "", word: row.status, tone: checkTones[row.status] ?? "wait" } : actionOf(row);
	const toggle = (event: MouseEvent) => {
		if (event.ctrlKey || event.metaKey || event.shiftKey) {
			return;
		}
		event.preventDefault();
		onToggle();
	};
	return (
		// biome-ignore lint/a11y/useSemanticElements: see the list
		<div
			role="listitem"
			class={open ? "change-item open" : "change-item"}
			data-key={rowKey}
			data-id={item.id}
			data-at={at}
			data-open={open || undefined}
			aria-setsize={of}
			aria-posinset={at + 1}
		>
			<div class="change-line" style={indent(depth)}>
				<Glyph action={action} />
				<a class="row-link change-address" href={placeFragment(item)} aria-expanded={open} onClick={toggle}>
					<Address row={row} />
				</a>
				<span class="change-facts">
					{row.list !== "checks" && <ChangeFacts row={row} />}
					{row.list === "checks" && <span class="muted">{row.kind}</span>}
				</span>
				<CopyButton text={row.address} label={`Copy ${row.address}`} />
			</div>
			{open && (row.list === "checks" ? <Problems row={row} /> : <Drawer plan={plan} row={row} />)}
		</div>
	);
}

function Problems({ row }: { readonly row: CheckRow }) {
	return (
		<div class="drawer">
			{row.problems.length === 0 && <p>It is known after apply.</p>}
			{row.problems.map((problem) => (
				<p key={problem} class="user-text">
					{problem}
				</p>
			))}
		</div>
	);
}
