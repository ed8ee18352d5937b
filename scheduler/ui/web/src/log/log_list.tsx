// SPDX-License-Identifier: MPL-2.0
import { useRef } from "preact/hooks";
import { useRender } from "../core/hooks.ts";
import { timesInUtc } from "../core/preferences.ts";
import type { LineCache } from "./line_cache.ts";
import { LogRow } from "./log_row.tsx";
import { rangeHas } from "./ranges.ts";
import { timeText } from "./times.ts";
import { type ListProps, lineOfRow, useList } from "./use_list.ts";

type Props = ListProps & { readonly label: string; readonly cache: LineCache; readonly current: number }; // the line of the search's match

const barHeight = 20; // of the scroll bar and the borders
const numberColumns = 24; // characters of line numbers, times and spaces

export function LogList(props: Props) {
	const { cache, count, settings, log } = props;
	const list = useList(props);
	const render = useRender();
	const widest = useRef(0);
	const start = settings.times === "start" ? cache.startTime() : undefined;
	const shown = [];
	for (let row = list.drawn.first; row < list.drawn.last; row++) {
		const number = lineOfRow(props, row);
		const line = cache.line(number, render);
		const before = settings.times === "gap" && number > 0 ? cache.line(number - 1, render)?.time : undefined;
		const time = settings.times === "off" ? undefined : timeText(settings.times, { at: line?.time, start, before }, timesInUtc());
		widest.current = Math.max(widest.current, cache.widthOf(line));
		shown.push(
			<LogRow
				key={number}
				log={log}
				number={number}
				position={row}
				of={count}
				line={line}
				time={time}
				matcher={settings.matcher}
				isCurrent={number === props.current}
				isSelected={rangeHas(props.selected, number)}
				focusable={row === list.focusable}
			/>,
		);
	}
	const minWidth = settings.wrap ? {} : { minWidth: `${widest.current + numberColumns}ch` };
	return (
		// biome-ignore lint/a11y/useSemanticElements: a section has no keys of its own
		<div
			{...list.handlers}
			ref={list.scroller}
			class={`log-scroll ${settings.wrap ? "wrap" : ""}`}
			style={{ height: settings.wrap ? "60vh" : `min(60vh, ${list.height + barHeight}px)` }}
			role="region"
			aria-label={props.label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys
			tabIndex={0}
		>
			<div class="log-space" style={list.whole ? {} : { height: `${list.height}px`, ...minWidth }}>
				{/* biome-ignore lint/a11y/useSemanticElements: see the rows */}
				<div ref={list.box} role="list" class={list.whole ? "log-rows whole" : "log-rows"}>
					{shown}
				</div>
			</div>
		</div>
	);
}
