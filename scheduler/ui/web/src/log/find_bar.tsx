// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef } from "preact/hooks";
import { Toggle } from "../components/button.tsx";
import { counted } from "../core/format.ts";
import { useFocusBack } from "../core/hooks.ts";
import type { Find } from "./use_scan.ts";

type Props = {
	readonly find: Find;
	readonly lines: number; // of the log
	readonly onStep: (by: 1 | -1) => void;
	readonly onClose: () => void;
	readonly asked: number; // grows each time the user asks for the search
};

function resultText({ query, error, scan, at }: Find, lines: number): string {
	if (error) {
		return `Not a pattern: ${error}`;
	}
	if (!query.text || !scan) {
		return "";
	}
	const found = `${counted(scan.found.length, "line")}${scan.full ? " or more" : ""}`;
	const of = at >= 0 ? `${at + 1} of ${found}` : found;
	return scan.next < lines && !scan.full ? `${of}, ${Math.floor((100 * scan.next) / lines)} % searched` : of;
}

export function FindBar(props: Props) {
	const { find, onStep, onClose } = props;
	const { query, setQuery } = find;
	const input = useRef<HTMLInputElement>(null);
	const bar = useRef<HTMLDivElement>(null);
	useFocusBack(bar);
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
	const text = resultText(find, props.lines);
	return (
		// biome-ignore lint/a11y/useSemanticElements: the element search is not in all supported browsers
		<div ref={bar} class="find-bar" role="search" onKeyDown={onKeyDown}>
			<input
				ref={input}
				type="search"
				aria-label="Find in the log"
				aria-invalid={find.error !== ""}
				value={query.text}
				maxLength={1000}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => setQuery({ ...query, text: event.currentTarget.value })}
			/>
			<Toggle on={query.matchCase} onToggle={() => setQuery({ ...query, matchCase: !query.matchCase })}>
				Match case
			</Toggle>
			<Toggle on={query.regex} onToggle={() => setQuery({ ...query, regex: !query.regex })}>
				Regex
			</Toggle>
			<button type="button" onClick={() => onStep(-1)} aria-label="Previous match">
				↑
			</button>
			<button type="button" onClick={() => onStep(1)} aria-label="Next match">
				↓
			</button>
			<button type="button" onClick={onClose} aria-label="Close the search">
				✕
			</button>
			<span role="status" class={find.error ? "field-error" : "muted"}>
				{text}
			</span>
		</div>
	);
}
