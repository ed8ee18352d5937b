// SPDX-License-Identifier: MPL-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { textScale, useHeight, useRender } from "../core/hooks.ts";
import { GroupHead, ItemRow } from "./change_row.tsx";
import type { Entry, Item } from "./items.ts";
import { Stack } from "./stack.ts";

// The item to bring into view. A new object is a new request.
export type Target = { readonly id: string };

type Props = {
	readonly plan: string;
	readonly label?: string;
	readonly entries: readonly Entry[];
	readonly open: ReadonlySet<string>; // ids of items with an open drawer
	readonly target: Target | undefined;
	readonly onToggle: (item: Item) => void;
	readonly onToggleGroup: (key: string) => void;
};

const rowPixels = 40;
const headPixels = 32;
const drawerHeight = 320; // until it is drawn
const around = 400;
const drawnWhole = 60; // rows that need no window

export const keyOf = (entry: Entry) => (entry.kind === "head" ? `head ${entry.key}` : `${entry.item.id} ${indexOf(entry.item)}`);
const indexOf = (item: Item) => (item.row.list === "checks" ? item.row.kind : item.row.index);

// Keeps the heights of open drawers, which are known only after they are drawn.
function useHeights(onChange: () => void) {
	const heights = useRef(new Map<string, number>());
	const observer = useRef<ResizeObserver | undefined>(undefined);
	useEffect(() => () => observer.current?.disconnect(), []);
	const watch = (element: HTMLElement) => {
		observer.current ??= new ResizeObserver((entries) => {
			for (const entry of entries) {
				const target = entry.target as HTMLElement;
				const key = target.dataset.key ?? "";
				if (target.isConnected && heights.current.get(key) !== target.offsetHeight) {
					heights.current.set(key, target.offsetHeight);
					onChange();
				}
			}
		});
		observer.current.observe(element);
	};
	return { heights: heights.current, watch };
}

export function ChangeList(props: Props) {
	const { entries, open, target } = props;
	const render = useRender();
	const scroller = useRef<HTMLDivElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const [scroll, setScroll] = useState(0);
	const view = useHeight(scroller, 600);
	const version = useRef(0);
	const { heights, watch } = useHeights(() => {
		version.current += 1;
		render();
	});
	const pending = useRef<string | undefined>(undefined);
	const isOpen = (entry: Entry) => entry.kind === "item" && open.has(entry.item.id);
	const scale = useMemo(textScale, []);
	const stack = useMemo(
		() =>
			new Stack(entries.length, (at) => {
				const entry = entries[at] as Entry;
				if (isOpen(entry)) {
					return heights.get(keyOf(entry)) ?? drawerHeight;
				}
				return scale * (entry.kind === "head" ? headPixels : rowPixels);
			}),
		[entries, open, version.current],
	);
	const whole = entries.length <= drawnWhole;
	const shown = whole ? { first: 0, last: entries.length } : stack.rows(scroll, view, around);

	useLayoutEffect(() => {
		if (target) {
			pending.current = target.id;
			const at = entries.findIndex((entry) => entry.kind === "item" && entry.item.id === target.id);
			if (at >= 0 && !whole && scroller.current) {
				scroller.current.scrollTop = Math.max(stack.top(at) - headPixels, 0);
				setScroll(scroller.current.scrollTop);
			}
		}
	}, [target]);

	useLayoutEffect(() => {
		for (const element of box.current?.querySelectorAll<HTMLElement>("[data-open]") ?? []) {
			watch(element);
		}
		if (pending.current !== undefined) {
			const wanted = [...(box.current?.children ?? [])].find((row) => (row as HTMLElement).dataset.id === pending.current);
			if (wanted) {
				pending.current = undefined;
				wanted.scrollIntoView({ block: "nearest" });
				wanted.querySelector<HTMLElement>(".row-link")?.focus({ preventScroll: true });
			}
		}
	});

	// The arrow keys go from row to row. A row that is not drawn yet is drawn before it has the focus.
	const onKeyDown = (event: KeyboardEvent) => {
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		const row =
			event.target instanceof Element && event.target.matches(".row-link, .group-toggle") ? event.target.closest("[data-at]") : null;
		if (!step || !(row instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) {
			return;
		}
		const next = box.current?.querySelector<HTMLElement>(`[data-at="${Number(row.dataset.at) + step}"] :is(.row-link, .group-toggle)`);
		if (next) {
			event.preventDefault();
			next.focus({ preventScroll: true });
			next.closest("[data-at]")?.scrollIntoView({ block: "nearest" });
		}
	};

	const rows = entries.slice(shown.first, shown.last).map((entry, i) => {
		const place = { at: shown.first + i, of: entries.length };
		return entry.kind === "head" ? (
			<GroupHead key={keyOf(entry)} entry={entry} {...place} onToggle={() => props.onToggleGroup(entry.key)} />
		) : (
			<ItemRow
				key={keyOf(entry)}
				rowKey={keyOf(entry)}
				item={entry.item}
				depth={entry.depth}
				{...place}
				plan={props.plan}
				open={isOpen(entry)}
				onToggle={() => props.onToggle(entry.item)}
			/>
		);
	});
	return (
		// biome-ignore lint/a11y/useSemanticElements: a section has no keys of its own
		<div
			ref={scroller}
			class={whole ? "change-scroll whole" : "change-scroll"}
			role="region"
			aria-label={props.label ?? "Changes"}
			tabIndex={whole ? undefined : 0}
			onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
			onKeyDown={onKeyDown}
		>
			<div style={whole ? {} : { height: `${stack.height}px`, position: "relative" }}>
				{/* biome-ignore lint/a11y/useSemanticElements: a windowed list has positions that ol and li can't have */}
				<div ref={box} role="list" class="change-rows" style={whole ? {} : { position: "absolute", top: `${stack.top(shown.first)}px` }}>
					{rows}
				</div>
			</div>
		</div>
	);
}
