// SPDX-License-Identifier: MPL-2.0
// The events of a plan's or an apply's log, read in ranges while the log grows.

import { useEffect, useRef } from "preact/hooks";
import { useRender } from "../../../core/hooks.ts";
import { type Resource, text } from "../../../core/resource.ts";
import { operationHasEnded, useReadLog } from "../../../log/operation.ts";
import { follow, LogTail, logTopic } from "../../../log/tail.ts";
import { EventBytes, type Progress } from "./log_events.ts";

const rangeBytes = 1 << 20;
const maxBytes = 64 << 20;

export type LogEvents = { readonly progress: Progress; readonly complete: boolean; readonly cut: boolean };

type State = { readonly events: EventBytes; readonly tail: LogTail; complete: boolean };

// useLogEvents reads the log of the operation. `reload` reads the operation again, for a new address of its log.
export function useLogEvents(operation: Resource | undefined, reload: () => Promise<void>): LogEvents {
	const render = useRender();
	const state = useRef<State | undefined>(undefined);
	const latest = useRef(operation);
	latest.current = operation;
	const readLog = useReadLog(operation, reload);

	// An operation that has ended before the read has no bytes after an empty range.
	const range = async (offset: number) => {
		const ended = operationHasEnded(latest.current);
		const read = offset < maxBytes ? await readLog(offset, rangeBytes) : new Uint8Array();
		if (read.length === 0 && (ended || offset >= maxBytes) && state.current) {
			state.current.complete = true;
			render();
		}
		return read;
	};
	if (!state.current) {
		const events = new EventBytes();
		const add = (bytes: Uint8Array, ended: boolean) => {
			events.add(bytes);
			now.complete ||= ended;
			render();
		};
		state.current = { events, tail: new LogTail(0, add, range), complete: false };
	}
	const now = state.current;
	const there = text(operation, "log-read-url") !== "";
	const ended = operationHasEnded(operation);
	const { complete } = now;
	useEffect(
		() => (operation && there && !complete ? follow(now.tail, ended ? undefined : logTopic(operation.id, now.tail.offset)) : undefined),
		[there, ended, complete],
	);
	useEffect(() => () => now.tail.stop(), []);
	return { progress: now.events.progress, complete, cut: now.tail.offset >= maxBytes };
}
