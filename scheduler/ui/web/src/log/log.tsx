// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../components/copy.tsx";
import { ErrorPanel } from "../components/error_panel.tsx";
import { address, segment } from "../core/api.ts";
import { isAway } from "../core/connection.ts";
import { errorOf } from "../core/errors.ts";
import { count, counted, size } from "../core/format.ts";
import { useConnection } from "../core/hooks.ts";
import { preference, preferenceSet } from "../core/preferences.ts";
import type { Resource } from "../core/resource.ts";
import { navigate } from "../core/router.ts";
import { FindBar } from "./find_bar.tsx";
import { searchedText } from "./line.ts";
import { type BarState, LogBar } from "./log_bar.tsx";
import { LogList } from "./log_list.tsx";
import type { LogReader } from "./log_reader.ts";
import { operationHasEnded } from "./operation.ts";
import { type LineRange, placeFragment } from "./ranges.ts";
import { timeModes } from "./times.ts";
import type { Target } from "./use_list.ts";
import { useLog, usePlace } from "./use_log.ts";
import { useErrors, useFind } from "./use_scan.ts";

type Props = {
	readonly operation: Resource; // the plan or the apply
	readonly kind: "plan" | "apply"; // also its name in fragments
	readonly reload: () => Promise<void>; // reads the operation again, for a new address of its log
};

const maxCopied = 10_000; // lines
const maxCopiedOfLine = 1 << 20;

// A log that would grow does not while the server is away.
function stateText(reader: LogReader, away: boolean): string {
	const interrupted = reader.state === "interrupted" || (reader.state === "live" && away);
	return interrupted ? `interrupted at byte ${count(reader.bytes.length)}, retrying` : reader.state;
}

// The text of the lines, without styles. Of a very long selection, its first lines.
async function selectedText(reader: LogReader, range: LineRange, raw: boolean): Promise<string> {
	const texts: string[] = [];
	const last = Math.min(range.last, reader.bytes.lineCount - 1); // an address may name more
	for (let line = range.first; line <= last && texts.length < maxCopied; ) {
		const text = reader.bytes.lineText(line, maxCopiedOfLine);
		if (typeof text === "string") {
			texts.push(raw ? text : searchedText(text));
			line += 1;
		} else if (!(await reader.load(text.missing))) {
			break;
		}
	}
	return texts.join("\n");
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
	const away = isAway(useConnection());
	const [bar, setBar] = useState(barStart);
	const [asked, setAsked] = useState(0);
	const [follow, setFollow] = useState(!operationHasEnded(operation));
	const [pausedAt, setPausedAt] = useState(0);
	const [target, setTarget] = useState<Target | undefined>();
	const [selected, setSelected, hasNewPlace, placeShown] = usePlace(kind);
	const find = useFind(reader, bar.finds);
	const errors = useErrors(reader, bar.errorsOnly);
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
		const line = find.step(by);
		if (line === undefined) {
			return;
		}
		const row = rows ? rows.indexOf(line) : line;
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
			{bar.finds && <FindBar find={find} lines={lines} onStep={step} onClose={() => changeBar({ finds: false })} asked={asked} />}
			<p class="muted log-state">
				{size(reader.bytes.length)}, {counted(lines, "line")}, {stateText(reader, away)}
				{rows && `, ${counted(rows.length, "line")} of errors`}
			</p>
			{problem?.status === 404 && <p class="note wait">The log is not there: it may have been deleted, or you may not read it.</p>}
			{isEmpty ? (
				<p class="muted">{emptyText(reader)}</p>
			) : (
				<LogList
					log={kind}
					label={`Log of the ${kind}`}
					cache={cache}
					rows={rows}
					count={rows ? rows.length : lines}
					settings={{ wrap: bar.wrap, times: bar.times, matcher: find.matcher }}
					follow={follow && !rows}
					target={target}
					selected={selected}
					current={find.line}
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
			{problem && problem.status > 0 && problem.status !== 404 && <ErrorPanel error={problem} onRetry={() => reader.read()} />}
		</div>
	);
}

function emptyText(reader: LogReader): string {
	return reader.state === "ended" ? "The log is empty." : "Nothing yet.";
}
