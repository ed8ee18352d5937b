// SPDX-License-Identifier: MPL-2.0
// The reading of an operation's log, with one update of the view per frame.

import { useEffect, useRef, useState } from "preact/hooks";
import { useFragment, useRender } from "../core/hooks.ts";
import { type Resource, text } from "../core/resource.ts";
import { LineCache } from "./line_cache.ts";
import { LogReader, type LogSource } from "./log_reader.ts";
import { operationHasEnded, useReadLog } from "./operation.ts";
import { type LineRange, placeOf } from "./ranges.ts";
import { follow, logTopic } from "./tail.ts";

export type LogView = { readonly reader: LogReader; readonly cache: LineCache };

// useFrame: a function that renders once in the next frame, however often it is called before.
function useFrame(): () => void {
	const render = useRender();
	const frame = useRef(0);
	useEffect(() => () => cancelAnimationFrame(frame.current), []);
	return () => {
		if (frame.current === 0) {
			frame.current = requestAnimationFrame(() => {
				frame.current = 0;
				render();
			});
		}
	};
}

export function useLog(operation: Resource, reload: () => Promise<void>): LogView {
	const onChange = useFrame();
	const latest = useRef(operation);
	latest.current = operation;
	const abort = useRef(new AbortController());
	const view = useRef<LogView | undefined>(undefined);
	const readLog = useReadLog(operation, reload);
	if (!view.current) {
		const source: LogSource = {
			range: (offset, limit) => readLog(offset, limit, abort.current.signal),
			hasEnded: () => operationHasEnded(latest.current),
		};
		const reader = new LogReader(source, onChange);
		view.current = { reader, cache: new LineCache(reader) };
	}
	const { reader } = view.current;
	const there = text(operation, "log-read-url") !== "";
	const ended = operationHasEnded(operation);
	const complete = reader.state === "ended";
	useEffect(
		() => (there && !complete ? follow(reader.tail, ended ? undefined : logTopic(operation.id, reader.tail.offset)) : undefined),
		[there, ended, complete],
	);
	useEffect(
		() => () => {
			reader.stop();
			abort.current.abort();
		},
		[],
	);
	return view.current;
}

// The lines that the fragment names, and the request to show them.
export function usePlace(kind: string): [LineRange | undefined, (range: LineRange | undefined) => void, boolean, () => void] {
	const here = () => {
		const place = placeOf(location.hash);
		return place?.log === kind ? place.range : undefined;
	};
	const fragment = useFragment();
	const [range, setRange] = useState(here);
	const [isNew, setNew] = useState(range !== undefined);
	useEffect(() => {
		const next = here();
		if (next && (next.first !== range?.first || next.last !== range?.last)) {
			setNew(true);
		}
		setRange(next);
	}, [fragment]);
	return [range, setRange, isNew, () => setNew(false)];
}
