// SPDX-License-Identifier: MPL-2.0
// A scan of the log's lines that starts anew when what it looks for changes, and goes on when the log grows.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useRender } from "../core/hooks.ts";
import { type Matcher, matcherOf, type Query } from "./find.ts";
import { ErrorLines, searchedText } from "./line.ts";
import type { LogReader } from "./log_reader.ts";
import { ApplyProgress } from "./progress.ts";
import { none, pauseTask, Scan, type Visit } from "./scan.ts";

const now = () => performance.now();
const progressMs = 10_000;
const noQuery: Query = { text: "", regex: false, matchCase: false };

// visit: undefined for no scan. `key` says what it looks for.
function useScan(reader: LogReader, key: string, visit: (() => Visit) | undefined): Scan | undefined {
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

export function useErrors(reader: LogReader, isOn: boolean): Scan | undefined {
	const visit = () => {
		const lines = new ErrorLines();
		return (line: number, text: string) => lines.next(line, text);
	};
	return useScan(reader, "errors", isOn ? visit : undefined);
}

export type Find = {
	readonly query: Query;
	readonly setQuery: (query: Query) => void;
	readonly error: string; // of the pattern
	readonly matcher: Matcher | undefined;
	readonly scan: Scan | undefined; // its lines have a match
	readonly at: number; // the current one of them; -1: none
	readonly line: number; // its line, or -1
	readonly step: (by: 1 | -1) => number | undefined; // goes to the next match and returns its line
};

export function useFind(reader: LogReader, isOn: boolean): Find {
	const [query, setQuery] = useState(noQuery);
	const [at, setAt] = useState(-1);
	const { matcher, error } = useMemo(() => matcherOf(query), [query]);
	const used = isOn ? matcher : undefined;
	const visit = used && (() => (line: number, text: string) => (used.test(searchedText(text)) ? [line] : none));
	const scan = useScan(reader, JSON.stringify(query), visit);
	const all = scan?.found ?? [];
	const step = (by: 1 | -1) => {
		if (all.length === 0) {
			return undefined;
		}
		const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
		setAt(next);
		return all[next];
	};
	const change = (next: Query) => {
		setQuery(next);
		setAt(-1);
	};
	return { query, setQuery: change, error, matcher: used, scan, at, line: all[at] ?? -1, step };
}

// The progress of an apply, said at most every 10 s.
export function useProgress(reader: LogReader, isOn: boolean): string {
	const progress = useMemo(() => new ApplyProgress(), [reader]);
	const [said, setSaid] = useState("");
	const at = useRef(Number.NEGATIVE_INFINITY);
	const visit = () => (_: number, text: string) => {
		progress.line(text);
		return none;
	};
	useScan(reader, "progress", isOn ? visit : undefined);
	const text = progress.text();
	useEffect(() => {
		if (text === said) {
			return;
		}
		const timer = setTimeout(
			() => {
				at.current = performance.now();
				setSaid(text);
			},
			Math.max(at.current + progressMs - performance.now(), 0),
		);
		return () => clearTimeout(timer);
	}, [text, said]);
	return said;
}
