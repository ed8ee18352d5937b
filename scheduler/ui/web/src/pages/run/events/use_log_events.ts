// SPDX-License-Identifier: MPL-2.0
// The events of a plan's or an apply's log, read in ranges while the log grows.

import { useEffect, useRef } from "preact/hooks";
import { bytes, pathOnPage } from "../../../core/api.ts";
import { errorOf } from "../../../core/errors.ts";
import { useLive, useRender } from "../../../core/hooks.ts";
import { type Resource, text } from "../../../core/resource.ts";
import { EventBytes, type Progress } from "./log_events.ts";

const rangeBytes = 1 << 20;
const maxBytes = 64 << 20;
const final = new Set(["finished", "errored", "canceled", "unreachable"]);

export type LogEvents = { readonly progress: Progress; readonly complete: boolean; readonly cut: boolean };

// useLogEvents reads the log of the operation. `reload` reads the operation again, for a new address of its log.
export function useLogEvents(operation: Resource | undefined, reload: () => Promise<void>): LogEvents {
	const render = useRender();
	const state = useRef({ events: new EventBytes(), offset: 0, busy: false, complete: false, gone: false });
	const latest = useRef(operation);
	latest.current = operation;
	const url = text(operation, "log-read-url");
	const ended = final.has(text(operation, "status"));

	const range = async () => {
		const path = pathOnPage(text(latest.current, "log-read-url"));
		return bytes(`${path}${path.includes("?") ? "&" : "?"}offset=${state.current.offset}&limit=${rangeBytes}`);
	};
	const advance = async () => {
		const now = state.current;
		if (now.busy || now.complete || !text(latest.current, "log-read-url")) {
			return;
		}
		now.busy = true;
		try {
			const over = final.has(text(latest.current, "status"));
			for (let more = true; more && now.offset < maxBytes && !now.gone; ) {
				const read = await range();
				now.events.add(read);
				now.offset += read.length;
				more = read.length > 0;
				if (more) {
					render();
				}
			}
			now.complete = over || now.offset >= maxBytes;
		} catch (failure) {
			if (errorOf(failure).status === 404 && !now.gone) {
				await reload(); // the signed address has expired
			}
		} finally {
			now.busy = false;
			if (!now.gone) {
				render();
			}
		}
	};
	useEffect(() => void advance(), [url !== "", ended]);
	useEffect(
		() => () => {
			state.current.gone = true;
		},
		[],
	);
	useLive(url && !state.current.complete ? [`log:${operation?.id}@${state.current.offset}`] : [], () => void advance());
	const { events, complete, offset } = state.current;
	return { progress: events.progress, complete, cut: offset >= maxBytes };
}
