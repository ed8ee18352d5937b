// SPDX-License-Identifier: MPL-2.0
// The rows of a log that are drawn, their place, the keys and the pointer.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { textScale, useHeight, useRender } from "../core/hooks.ts";
import type { Matcher } from "./find.ts";
import { type LineRange, rangeOf } from "./ranges.ts";
import type { TimeMode } from "./times.ts";
import { type Anchor, anchorOf, type Layout, listHeight, type Rows, rowsOf, scrollTo } from "./viewport.ts";

// A row to bring into view. A new object is a new request.
export type Target = { readonly row: number };

export type ListProps = {
	readonly log: string; // its name in fragments
	readonly rows: readonly number[] | undefined; // the lines that are shown; undefined: all
	readonly count: number;
	readonly settings: { readonly wrap: boolean; readonly times: TimeMode; readonly matcher: Matcher | undefined };
	readonly follow: boolean;
	readonly target: Target | undefined;
	readonly selected: LineRange | undefined;
	readonly onFollow: (on: boolean) => void;
	readonly onSelect: (range: LineRange) => void;
	readonly onFind: () => void;
};

const rowPixels = 20;
const extraRows = 8;
const wrappedWithoutWindow = 500;

export const lineOfRow = ({ rows }: ListProps, row: number) => (rows ? (rows[row] ?? 0) : row);
const rowOfLine = ({ rows }: ListProps, line: number) => (rows ? rows.indexOf(line) : line);

const lineAt = (target: EventTarget | null) => {
	const number = target instanceof Element ? target.closest(".log-number")?.closest<HTMLElement>("[data-line]") : null;
	return number ? Number(number.dataset.line) : undefined;
};

// Drag or shift-click on line numbers selects a range.
function useSelection(props: ListProps) {
	const from = useRef<number | undefined>(undefined);
	const start = () => from.current ?? props.selected?.first;
	return {
		onPointerDown: (event: PointerEvent) => {
			const line = lineAt(event.target);
			if (line === undefined || event.button !== 0 || event.ctrlKey || event.metaKey) {
				return;
			}
			if (!event.shiftKey) {
				from.current = line;
			}
			props.onSelect(rangeOf(start() ?? line, line));
		},
		onPointerOver: (event: PointerEvent) => {
			const line = event.buttons === 1 && from.current !== undefined ? lineAt(event.target) : undefined;
			if (line !== undefined) {
				props.onSelect(rangeOf(from.current ?? line, line));
			}
		},
		onClick: (event: MouseEvent) => {
			const line = lineAt(event.target);
			if (line === undefined || event.ctrlKey || event.metaKey) {
				return;
			}
			event.preventDefault();
			if (event.detail === 0) {
				from.current = line;
				props.onSelect(rangeOf(line, line)); // by the keyboard
			}
		},
		// Selects from where the selection began, or from `line`, to `next`.
		extend: (line: number, next: number) => {
			from.current ??= props.selected ? props.selected.first : line;
			props.onSelect(rangeOf(from.current, next));
		},
	};
}

type Box = { readonly current: HTMLDivElement | null };

// Puts the drawn rows where the anchor says. Wrapped lines have their heights only after they are drawn.
type Placed = {
	readonly drawn: Rows;
	readonly anchor: Anchor;
	readonly row: number;
	readonly scroll: number;
	readonly wrap: boolean;
	readonly whole: boolean;
};

function usePosition(box: Box, { drawn, anchor, row, scroll, wrap, whole }: Placed): void {
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) {
			return;
		}
		const rows = anchor.index - drawn.first;
		const first = element.children[rows] as HTMLElement | undefined;
		const above = wrap && first ? first.offsetTop + anchor.part * first.offsetHeight : (rows + anchor.part) * row;
		element.style.top = whole ? "0" : `${scroll + anchor.top - above}px`;
	});
}

// Focuses a line's number once it is drawn.
function useLineFocus(box: Box): (line: number) => void {
	const wanted = useRef<number | undefined>(undefined);
	const render = useRender();
	useLayoutEffect(() => {
		const link = wanted.current === undefined ? null : box.current?.querySelector(`[data-line="${wanted.current}"] .log-number`);
		if (link instanceof HTMLElement) {
			wanted.current = undefined;
			link.focus({ preventScroll: true });
		}
	});
	return (line) => {
		wanted.current = line;
		render();
	};
}

export function useList(props: ListProps) {
	const { count, settings, target, follow } = props;
	const scroller = useRef<HTMLDivElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const view = useHeight(scroller);
	const [scroll, setScroll] = useState(0);
	const selection = useSelection(props);
	const focusLine = useLineFocus(box);
	const row = useMemo(() => rowPixels * textScale(), []);
	const layout: Layout = { count, row, view: Math.max(view, row) };
	const whole = settings.wrap && count <= wrappedWithoutWindow;
	const anchor = anchorOf(layout, scroll);
	const drawn = whole ? { first: 0, last: count } : rowsOf(layout, anchor, extraRows);
	usePosition(box, { drawn, anchor, row, scroll, wrap: settings.wrap, whole });

	useLayoutEffect(() => {
		if (follow && scroller.current) {
			scroller.current.scrollTop = scroller.current.scrollHeight;
		}
	}, [follow, count, view, settings.wrap]);

	useLayoutEffect(() => {
		if (!scroller.current || !target || view === 0) {
			return;
		}
		if (whole) {
			box.current?.children[target.row]?.scrollIntoView({ block: "nearest" });
		} else {
			scroller.current.scrollTop = scrollTo(layout, target.row, 0.4);
		}
		setScroll(scroller.current.scrollTop);
	}, [target, view > 0]);

	const onScroll = (event: Event) => {
		const element = event.currentTarget as HTMLElement;
		const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - row / 2;
		setScroll(element.scrollTop);
		if (atEnd !== follow) {
			props.onFollow(atEnd);
		}
	};

	// The arrow keys go from number to number; with Shift they select.
	const onArrow = (event: KeyboardEvent, line: number, step: number) => {
		const to = Math.min(Math.max(rowOfLine(props, line) + step, 0), count - 1);
		const next = lineOfRow(props, to);
		event.preventDefault();
		if (event.shiftKey) {
			selection.extend(line, next);
		}
		if (scroller.current && (to <= drawn.first + extraRows || to >= drawn.last - extraRows - 1)) {
			scroller.current.scrollTop = scrollTo(layout, to, 0.5);
		}
		focusLine(next);
	};

	const onKeyDown = (event: KeyboardEvent) => {
		const line = lineAt(event.target);
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			props.onFind();
		} else if (line !== undefined && step !== 0 && !event.ctrlKey && !event.metaKey && !event.altKey) {
			onArrow(event, line, step);
		}
	};

	const { onPointerDown, onPointerOver, onClick } = selection;
	const selectedRow = props.selected ? rowOfLine(props, props.selected.first) : -1;
	const inView = selectedRow >= drawn.first && selectedRow < drawn.last;
	return {
		scroller,
		box,
		drawn,
		whole,
		height: listHeight(layout),
		focusable: inView ? selectedRow : Math.min(anchor.index, count - 1), // the row whose number is a tab stop
		handlers: { onScroll, onKeyDown, onPointerDown, onPointerOver, onClick },
	};
}
