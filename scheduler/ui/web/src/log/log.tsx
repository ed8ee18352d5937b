// SPDX-License-Identifier: MPL-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorPanel } from "../components/error_panel.tsx";
import { announce } from "../components/live_region.tsx";
import { address, segment } from "../core/api.ts";
import { errorOf } from "../core/errors.ts";
import { count, counted, size } from "../core/format.ts";
import { useFragment } from "../core/hooks.ts";
import { preference, preferenceSet } from "../core/preferences.ts";
import { flag, type Resource } from "../core/resource.ts";
import { navigate } from "../core/router.ts";
import { matcherOf, type Query } from "./find.ts";
import { FindBar } from "./find_bar.tsx";
import { ErrorLines, searchedText } from "./line.ts";
import { type BarState, LogBar } from "./log_bar.tsx";
import { LogList, type Target } from "./log_list.tsx";
import type { LogReader } from "./log_reader.ts";
import { ApplyProgress } from "./progress.ts";
import { type LineRange, placeFragment, placeOf } from "./ranges.ts";
import { timeModes } from "./times.ts";
import { hasEnded, useLog } from "./use_log.ts";
import { useScan } from "./use_scan.ts";

type Props = {
	readonly operation: Resource; // the plan or the apply
	readonly kind: "plan" | "apply"; // also its name in fragments
	readonly reload: () => Promise<void>; // reads the operation again, for a new address of its log
};

const mostCopied = 10_000; // lines
const mostCopiedOfLine = 1 << 20;
const noQuery: Query = { text: "", regex: false, matchCase: false };
const progressMs = 10_000;

function stateText(reader: LogReader): string {
	switch (reader.state) {
		case "interrupted":
			return `interrupted at byte ${count(reader.bytes.length)}, retrying`;
		case "reading":
			return "reading";
		default:
			return reader.state;
	}
}

async function copyText(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		announce("Copied");
	} catch {
		announce("The browser does not allow copying");
	}
}

// The text of the lines, without styles. Of a very long selection, its first lines.
async function selectedText(reader: LogReader, range: LineRange, raw: boolean): Promise<string> {
	const texts: string[] = [];
	for (let line = range.first; line <= range.last && texts.length < mostCopied; ) {
		const text = reader.bytes.lineText(line, mostCopiedOfLine);
		if (typeof text === "string") {
			texts.push(raw ? text : searchedText(text));
			line += 1;
		} else if (!(await reader.load(text.missing))) {
			break;
		}
	}
	return texts.join("\n");
}

// The progress of an apply, said at most every 10 s.
function useProgress(reader: LogReader, isOn: boolean): string {
	const progress = useMemo(() => new ApplyProgress(), [reader]);
	const [said, setSaid] = useState("");
	const at = useRef(Number.NEGATIVE_INFINITY);
	useScan(
		reader,
		"progress",
		isOn
			? () => (_, text) => {
					progress.line(text);
					return [];
				}
			: undefined,
	);
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

// The lines that the fragment names, and the request to show them.
function usePlace(kind: string): [LineRange | undefined, (range: LineRange | undefined) => void, boolean, () => void] {
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

function barStart(): BarState {
	const mode = preference("log.times", "off");
	return {
		wrap: preference("log.wrap", "off") === "on",
		times: timeModes.find(([name]) => name === mode)?.[0] ?? "off",
		raw: false,
		errorsOnly: false,
		finds: false,
	};
}

// The log of a plan or an apply: only the lines in view are decoded and drawn.
export function Log({ operation, kind, reload }: Props) {
	const { reader, cache } = useLog(operation, reload);
	const [bar, setBar] = useState(barStart);
	const [asked, setAsked] = useState(0);
	const [query, setQuery] = useState(noQuery);
	const [found, setFound] = useState(-1);
	const [follow, setFollow] = useState(!hasEnded(operation));
	const [pausedAt, setPausedAt] = useState(0);
	const [target, setTarget] = useState<Target | undefined>();
	const [selected, setSelected, hasNewPlace, placeShown] = usePlace(kind);
	const { matcher, error: patternError } = useMemo(() => matcherOf(query), [query]);
	const searched = bar.finds ? matcher : undefined;
	const search = useScan(
		reader,
		JSON.stringify(query),
		searched && (() => (line: number, text: string) => (searched.test(searchedText(text)) ? [line] : [])),
	);
	const errors = useScan(
		reader,
		"errors",
		bar.errorsOnly
			? () => {
					const lines = new ErrorLines();
					return (line, text) => lines.next(line, text);
				}
			: undefined,
	);
	const progress = useProgress(reader, kind === "apply" && flag(operation, "structured-run-output-enabled"));
	cache.raw = bar.raw;
	const lines = reader.bytes.lineCount;
	const rows = errors?.found;

	useEffect(() => {
		if (hasNewPlace && selected && lines > selected.first) {
			setFollow(false);
			setBar((old) => ({ ...old, errorsOnly: false }));
			setTarget({ row: selected.first });
			placeShown();
		}
	}, [hasNewPlace, selected, lines]);

	const changeBar = (change: Partial<BarState>) => {
		setBar((old) => ({ ...old, ...change }));
		if (change.wrap !== undefined) {
			preferenceSet("log.wrap", change.wrap ? "on" : "off");
		}
		if (change.times !== undefined) {
			preferenceSet("log.times", change.times);
		}
		if (change.finds) {
			setAsked((times) => times + 1);
		}
	};
	const select = (range: LineRange) => {
		setSelected(range);
		navigate(location.pathname + location.search + placeFragment(kind, range), true);
	};
	const step = (by: 1 | -1) => {
		const all = search?.found ?? [];
		if (all.length === 0) {
			return;
		}
		const next = found < 0 ? (by > 0 ? 0 : all.length - 1) : (found + by + all.length) % all.length;
		const line = all[next] ?? 0;
		const row = rows ? rows.indexOf(line) : line;
		setFound(next);
		setFollow(false);
		if (row < 0) {
			changeBar({ errorsOnly: false });
		}
		setTarget({ row: row < 0 ? line : row });
	};
	const newLines = Math.max(lines - pausedAt, 0);
	const isEmpty = lines === 0;
	const problem = reader.error === undefined ? undefined : errorOf(reader.error);
	return (
		<div class="log">
			<LogBar
				state={bar}
				onState={changeBar}
				hasSelection={selected !== undefined}
				onCopyLink={() => copyText(location.href)}
				onCopyText={async () => selected && copyText(await selectedText(reader, selected, bar.raw))}
				download={address(`/${operation.type}/${segment(operation.id)}/log`)}
			/>
			{bar.finds && (
				<FindBar
					query={query}
					onQuery={(next) => {
						setQuery(next);
						setFound(-1);
					}}
					error={patternError}
					found={search?.found.length ?? 0}
					full={search?.full ?? false}
					at={found}
					progress={search && lines > 0 ? search.next / lines : 1}
					onStep={step}
					onClose={() => changeBar({ finds: false })}
					asked={asked}
				/>
			)}
			<p class="muted log-state">
				{size(reader.bytes.length)}, {counted(lines, "line")}, {stateText(reader)}
				{rows && `, ${counted(rows.length, "line")} of errors`}
			</p>
			{progress && (
				<p role="status" class="muted">
					{progress}
				</p>
			)}
			{problem?.status === 404 && <p class="note wait">The log is not there: it may have been deleted, or you may not read it.</p>}
			{problem && problem.status !== 404 && <ErrorPanel error={problem} onRetry={() => reader.read()} />}
			{isEmpty ? (
				<p class="muted">{emptyText(reader)}</p>
			) : (
				<LogList
					log={kind}
					label={`Log of the ${kind}`}
					cache={cache}
					rows={rows}
					count={rows ? rows.length : lines}
					settings={{ wrap: bar.wrap, times: bar.times, matcher: searched }}
					follow={follow && !rows}
					target={target}
					selected={selected}
					current={found >= 0 ? (search?.found[found] ?? -1) : -1}
					onFollow={(on) => {
						setFollow(on);
						setPausedAt(lines);
					}}
					onSelect={select}
					onFind={() => changeBar({ finds: true })}
				/>
			)}
			{!follow && newLines > 0 && reader.state !== "ended" && !isEmpty && (
				<button type="button" class="log-follow" onClick={() => setFollow(true)}>
					{counted(newLines, "new line")}: follow
				</button>
			)}
		</div>
	);
}

function emptyText(reader: LogReader): string {
	return reader.state === "ended" ? "The log is empty." : "Nothing yet.";
}
