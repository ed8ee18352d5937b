// SPDX-License-Identifier: MPL-2.0
// A scan of the log's lines that starts anew when what it looks for changes, and goes on when the log grows.

import { useEffect, useRef } from "preact/hooks";
import { useRender } from "../core/hooks.ts";
import type { LogReader } from "./log_reader.ts";
import { pauseTask, Scan, type Visit } from "./scan.ts";

const now = () => performance.now();

// visit: undefined for no scan. `key` says what it looks for.
export function useScan(reader: LogReader, key: string, visit: (() => Visit) | undefined): Scan | undefined {
	const scan = useRef<{ key: string; scan: Scan } | undefined>(undefined);
	const render = useRender();
	if (scan.current && (!visit || scan.current.key !== key)) {
		scan.current.scan.stop();
		scan.current = undefined;
	}
	if (visit && !scan.current) {
		const host = { load: (block: number) => reader.load(block), pause: pauseTask, now };
		scan.current = { key, scan: new Scan(reader.bytes, visit(), host) };
	}
	const { state, bytes } = reader;
	const until = state === "ended" ? bytes.lineCount : bytes.completeLines;
	useEffect(() => {
		void scan.current?.scan.advance(until, render);
	}, [scan.current?.scan, until]);
	useEffect(() => () => scan.current?.scan.stop(), []);
	return scan.current?.scan;
}
