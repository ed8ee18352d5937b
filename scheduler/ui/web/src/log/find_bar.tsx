// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef } from "preact/hooks";
import { counted } from "../core/format.ts";
import type { Query } from "./find.ts";

type Props = {
	readonly query: Query;
	readonly onQuery: (query: Query) => void;
	readonly error: string; // of the pattern
	readonly found: number; // lines with a match
	readonly full: boolean;
	readonly at: number; // the current one of them, from 0; -1: none
	readonly progress: number; // share of the log that was searched, 0 to 1
	readonly onStep: (by: 1 | -1) => void;
	readonly onClose: () => void;
	readonly asked: number; // grows each time the user asks for the search
};

function resultText({ query, error, found, full, at, progress }: Props): string {
	if (error) {
		return `Not a pattern: ${error}`;
	}
	if (!query.text) {
		return "";
	}
	const lines = `${counted(found, "line")}${full ? " or more" : ""}`;
	const of = at >= 0 ? `${at + 1} of ${lines}` : lines;
	return progress < 1 && !full ? `${of}, ${Math.floor(progress * 100)} % searched` : of;
}

export function FindBar(props: Props) {
	const { query, onQuery, onStep, onClose } = props;
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => {
		input.current?.focus();
		input.current?.select();
	}, [props.asked]);
	const onKeyDown = (event: KeyboardEvent) => {
		if (event.key === "Enter") {
			event.preventDefault();
			onStep(event.shiftKey ? -1 : 1);
		} else if (event.key === "Escape") {
			event.preventDefault();
			onClose();
		} else if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			input.current?.select();
		}
	};
	const text = resultText(props);
	return (
		// biome-ignore lint/a11y/useSemanticElements: the element search is not in all supported browsers
		<div class="find-bar" role="search" onKeyDown={onKeyDown}>
			<input
				ref={input}
				type="search"
				aria-label="Find in the log"
				aria-invalid={props.error !== ""}
				value={query.text}
				maxLength={1000}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => onQuery({ ...query, text: event.currentTarget.value })}
			/>
			<button
				type="button"
				class="toggle"
				aria-pressed={query.matchCase}
				onClick={() => onQuery({ ...query, matchCase: !query.matchCase })}
			>
				Match case
			</button>
			<button type="button" class="toggle" aria-pressed={query.regex} onClick={() => onQuery({ ...query, regex: !query.regex })}>
				Regex
			</button>
			<button type="button" onClick={() => onStep(-1)} aria-label="Previous match">
				↑
			</button>
			<button type="button" onClick={() => onStep(1)} aria-label="Next match">
				↓
			</button>
			<button type="button" onClick={onClose} aria-label="Close the search">
				✕
			</button>
			<span role="status" class={props.error ? "field-error" : "muted"}>
				{text}
			</span>
		</div>
	);
}
