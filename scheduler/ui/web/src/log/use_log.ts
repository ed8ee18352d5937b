// SPDX-License-Identifier: MPL-2.0
// The reading of an operation's log, with one update of the view per frame.

import { useEffect, useRef } from "preact/hooks";
import { bytes, pathOnPage } from "../core/api.ts";
import { errorOf } from "../core/errors.ts";
import { useLive, useRender } from "../core/hooks.ts";
import { type Resource, text } from "../core/resource.ts";
import { LineCache } from "./line_cache.ts";
import { LogReader, type LogSource } from "./log_reader.ts";

const finalStatuses = new Set(["finished", "errored", "canceled", "unreachable"]);

export type LogView = { readonly reader: LogReader; readonly cache: LineCache };

export const hasEnded = (operation: Resource) => finalStatuses.has(text(operation, "status"));

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
	const latest = useRef({ operation, reload });
	latest.current = { operation, reload };
	const abort = useRef(new AbortController());
	const view = useRef<LogView | undefined>(undefined);

	const rangeOnce = (offset: number, limit: number) => {
		const path = pathOnPage(text(latest.current.operation, "log-read-url"));
		return bytes(`${path}${path.includes("?") ? "&" : "?"}offset=${offset}&limit=${limit}`, abort.current.signal);
	};
	// The signed address may have expired: the operation has a new one.
	const range = async (offset: number, limit: number) => {
		try {
			return await rangeOnce(offset, limit);
		} catch (error) {
			if (abort.current.signal.aborted || errorOf(error).status !== 404) {
				throw error;
			}
			await latest.current.reload();
			return rangeOnce(offset, limit);
		}
	};
	if (!view.current) {
		const source: LogSource = { range, hasEnded: () => hasEnded(latest.current.operation) };
		const reader = new LogReader(source, onChange);
		view.current = { reader, cache: new LineCache(reader) };
	}
	const { reader } = view.current;
	const there = text(operation, "log-read-url") !== "";
	useEffect(() => void (there && reader.read()), [there, hasEnded(operation)]);
	useEffect(
		() => () => {
			reader.stop();
			abort.current.abort();
		},
		[],
	);
	useLive(there && reader.state !== "ended" ? [`log:${operation.id}@${reader.bytes.length}`] : [], () => void reader.read());
	return view.current;
}
