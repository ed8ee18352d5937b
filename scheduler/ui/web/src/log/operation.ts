// SPDX-License-Identifier: MPL-2.0
// Plans and applies: their ends, and the ranges of their logs.

import { useRef } from "preact/hooks";
import { bytes, pathOnPage } from "../core/api.ts";
import { errorOf } from "../core/errors.ts";
import { type Resource, text } from "../core/resource.ts";

const finalStatuses = new Set(["finished", "errored", "canceled", "unreachable"]);

export const operationHasEnded = (operation: Resource | undefined) => finalStatuses.has(text(operation, "status"));

export type ReadLog = (offset: number, limit: number, signal?: AbortSignal) => Promise<Uint8Array>;

// useReadLog: reads a range of the operation's log. If its signed address has expired, `reload` reads the operation again.
export function useReadLog(operation: Resource | undefined, reload: () => Promise<void>): ReadLog {
	const latest = useRef({ operation, reload });
	latest.current = { operation, reload };
	const readOnce: ReadLog = (offset, limit, signal) => {
		const path = pathOnPage(text(latest.current.operation, "log-read-url"));
		return bytes(`${path}${path.includes("?") ? "&" : "?"}offset=${offset}&limit=${limit}`, signal);
	};
	return async (offset, limit, signal) => {
		try {
			return await readOnce(offset, limit, signal);
		} catch (error) {
			if (signal?.aborted || errorOf(error).status !== 404) {
				throw error;
			}
			await latest.current.reload();
			return readOnce(offset, limit, signal);
		}
	};
}
