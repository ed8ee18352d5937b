// SPDX-License-Identifier: MPL-2.0
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useRender } from "../core/hooks.ts";
import { timesInUtc } from "../core/preferences.ts";
import type { Matcher } from "./find.ts";
import type { LineCache } from "./line_cache.ts";
import { LogRow } from "./log_row.tsx";
import { type LineRange, rangeHas, rangeOf } from "./ranges.ts";
import { type TimeMode, timeText } from "./times.ts";
import { anchorOf, type Layout, listHeight, rowsOf, scrollTo } from "./viewport.ts";

export type ListSettings = {
	readonly wrap: boolean;
	readonly times: TimeMode;
	readonly matcher: Matcher | undefined;
};

// What the list is asked to show. A new object is a new request.
export type Target = { readonly row: number; readonly focus?: boolean };

type Props = {
	readonly log: string;
	readonly label: string;
	readonly cache: LineCache;
	readonly rows: readonly number[] | undefined; // the lines that are shown; undefined: all
	readonly count: number;
	readonly settings: ListSettings;
	readonly follow: boolean;
	readonly target: Target | undefined;
	readonly selected: LineRange | undefined;
	readonly current: number; // the line of the match that the search is at
	readonly onFollow: (on: boolean) => void;
	readonly onSelect: (range: LineRange) => void;
	readonly onFind: () => void;
};

const rowHeight = 20;
const extraRows = 8;
const wrappedWithoutWindow = 500;

const lineAt = (target: EventTarget | null) => {
	const number = target instanceof Element ? target.closest<HTMLElement>(".log-number")?.closest<HTMLElement>("[data-line]") : null;
	return number ? Number(number.dataset.line) : undefined;
};

// Drag or shift-click on line numbers selects a range; arrow keys move from number to number.
function useSelection(props: Props) {
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
		extend: (line: number) => {
			from.current ??= line;
			props.onSelect(rangeOf(start() ?? line, line));
		},
	};
}

function useSize(): [(element: HTMLElement | null) => void, { current: HTMLElement | null }, number] {
	const element = useRef<HTMLElement | null>(null);
	const [height, setHeight] = useState(0);
	useEffect(() => {
		if (!element.current) {
			return;
		}
		const observer = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 0));
		observer.observe(element.current);
		return () => observer.disconnect();
	}, []);
	return [(found) => (element.current = found), element, height];
}

export function LogList(props: Props) {
	const { cache, count, settings, target } = props;
	const [attach, scroller, view] = useSize();
	const [scroll, setScroll] = useState(0);
	const box = useRef<HTMLDivElement>(null);
	const widest = useRef(0);
	const focusAt = useRef<number | undefined>(undefined);
	const render = useRender();
	const selection = useSelection(props);
	const layout: Layout = { count, row: rowHeight, view: Math.max(view, rowHeight) };
	const whole = settings.wrap && count <= wrappedWithoutWindow;
	const anchor = anchorOf(layout, scroll);
	const drawn = whole ? { first: 0, last: count } : rowsOf(layout, anchor, extraRows);
	const lineOfRow = (row: number) => (props.rows ? (props.rows[row] ?? 0) : row);
	const rowOfLine = (line: number) => (props.rows ? props.rows.indexOf(line) : line);

	useLayoutEffect(() => {
		const element = scroller.current;
		if (props.follow && element) {
			element.scrollTop = element.scrollHeight;
		}
	}, [props.follow, count, view, settings.wrap]);

	useLayoutEffect(() => {
		const element = scroller.current;
		if (!element || !target || view === 0) {
			return;
		}
		if (target.focus) {
			focusAt.current = target.row;
		}
		if (!whole) {
			element.scrollTop = scrollTo(layout, target.row, 0.4);
		}
		setScroll(element.scrollTop);
		if (whole) {
			box.current?.children[target.row]?.scrollIntoView({ block: "nearest" });
		}
	}, [target, view > 0]);

	// Wrapped lines have their heights only after they are drawn.
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) {
			return;
		}
		const row = element.children[anchor.index - drawn.first] as HTMLElement | undefined;
		const above =
			settings.wrap && row ? row.offsetTop + anchor.part * row.offsetHeight : (anchor.index - drawn.first + anchor.part) * rowHeight;
		element.style.top = whole ? "0" : `${scroll + anchor.top - above}px`;
	});

	useLayoutEffect(() => {
		const link = focusAt.current === undefined ? null : box.current?.querySelector(`[data-line="${focusAt.current}"] .log-number`);
		if (link instanceof HTMLElement) {
			focusAt.current = undefined;
			link.focus({ preventScroll: true });
		}
	});

	const onScroll = (event: Event) => {
		const element = event.currentTarget as HTMLElement;
		const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight / 2;
		setScroll(element.scrollTop);
		if (atEnd !== props.follow) {
			props.onFollow(atEnd);
		}
	};

	const moveTo = (line: number) => {
		const row = rowOfLine(line);
		if (row < 0 || row >= count || !scroller.current) {
			return;
		}
		focusAt.current = line;
		if (row <= drawn.first + extraRows || row >= drawn.last - extraRows - 1) {
			scroller.current.scrollTop = scrollTo(layout, row, 0.5);
		}
		render();
	};

	const onKeyDown = (event: KeyboardEvent) => {
		if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			props.onFind();
			return;
		}
		const line = lineAt(event.target);
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		if (line === undefined || step === 0 || event.ctrlKey || event.metaKey || event.altKey) {
			return;
		}
		event.preventDefault();
		const next = lineOfRow(Math.min(Math.max(rowOfLine(line) + step, 0), count - 1));
		if (event.shiftKey) {
			selection.extend(next);
		}
		moveTo(next);
	};

	const shown = [];
	const start = settings.times === "start" ? cache.startTime() : undefined;
	const selectedRow = props.selected ? rowOfLine(props.selected.first) : -1;
	const focusable = selectedRow >= drawn.first && selectedRow < drawn.last ? selectedRow : Math.min(anchor.index, count - 1);
	for (let row = drawn.first; row < drawn.last; row++) {
		const number = lineOfRow(row);
		const line = cache.line(number, render);
		const before = settings.times === "gap" && number > 0 ? cache.line(number - 1, render)?.time : undefined;
		const time = settings.times === "off" ? undefined : timeText(settings.times, { at: line?.time, start, before }, timesInUtc());
		widest.current = Math.max(widest.current, cache.widthOf(line));
		shown.push(
			<LogRow
				key={number}
				log={props.log}
				number={number}
				position={row}
				of={count}
				line={line}
				time={time}
				matcher={settings.matcher}
				isCurrent={number === props.current}
				isSelected={rangeHas(props.selected, number)}
				focusable={row === focusable}
			/>,
		);
	}
	const width = settings.wrap ? undefined : `${widest.current + 24}ch`;
	return (
		// biome-ignore lint/a11y/useSemanticElements: a section has no keys of its own
		<div
			ref={attach}
			class={`log-scroll ${settings.wrap ? "wrap" : ""}`}
			role="region"
			aria-label={props.label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys
			tabIndex={0}
			onScroll={onScroll}
			onKeyDown={onKeyDown}
			onPointerDown={selection.onPointerDown}
			onPointerOver={selection.onPointerOver}
			onClick={selection.onClick}
		>
			<div class="log-space" style={whole ? {} : { height: `${listHeight(layout)}px`, ...(width && { minWidth: width }) }}>
				{/* biome-ignore lint/a11y/useSemanticElements: see the rows */}
				<div ref={box} role="list" class={whole ? "log-rows whole" : "log-rows"}>
					{shown}
				</div>
			</div>
		</div>
	);
}
