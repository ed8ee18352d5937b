// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { count } from "../core/format.ts";
import { type Matcher, matchesIn } from "./find.ts";
import type { Line } from "./line.ts";
import type { Match } from "./pattern.ts";
import { placeFragment } from "./ranges.ts";
import type { Span } from "./sgr.ts";

type Props = {
	readonly log: string; // the name in fragments
	readonly number: number;
	readonly position: number; // among the rows that are shown
	readonly of: number;
	readonly line: Line | undefined; // undefined: its bytes are read again
	readonly time: string | undefined; // undefined: no column of times
	readonly matcher: Matcher | undefined;
	readonly isCurrent: boolean; // the match that the search is at
	readonly isSelected: boolean;
	readonly focusable: boolean;
};

// The parts of a span, with the matches marked. `from` is the span's place in the line's text.
function marked(span: Span, from: number, matches: readonly Match[]): ComponentChildren {
	const parts: ComponentChildren[] = [];
	let at = from;
	const end = from + span.text.length;
	for (const match of matches) {
		const begin = Math.max(match.from, at);
		const stop = Math.min(match.to, end);
		if (begin < stop) {
			parts.push(span.text.slice(at - from, begin - from), <mark key={begin}>{span.text.slice(begin - from, stop - from)}</mark>);
			at = stop;
		}
	}
	parts.push(span.text.slice(at - from));
	return parts;
}

function Spans({ spans, matcher }: { readonly spans: readonly Span[]; readonly matcher: Matcher | undefined }) {
	const matches = matcher ? matchesIn(matcher, spans.map((span) => span.text).join("")) : [];
	let at = 0;
	return (
		<>
			{spans.map((span, i) => {
				const content = matches.length > 0 ? marked(span, at, matches) : span.text;
				at += span.text.length;
				return span.href ? (
					<a key={i} class={span.classes} href={span.href} rel="noopener noreferrer" target="_blank">
						{content}
					</a>
				) : span.classes ? (
					<span key={i} class={span.classes}>
						{content}
					</span>
				) : (
					content
				);
			})}
		</>
	);
}

export function LogRow(props: Props) {
	const { number, line } = props;
	const kinds = ["log-row", line?.level && `level-${line.level}`, props.isSelected && "selected", props.isCurrent && "current"];
	return (
		// biome-ignore lint/a11y/useSemanticElements: a windowed list has positions that ol and li can't have
		<div
			role="listitem"
			class={kinds.filter(Boolean).join(" ")}
			data-line={number}
			aria-setsize={props.of}
			aria-posinset={props.position + 1}
			aria-current={props.isSelected || undefined}
		>
			<a
				class="log-number"
				href={placeFragment(props.log, { first: number, last: number })}
				tabIndex={props.focusable ? 0 : -1}
				aria-label={`Line ${number + 1}`}
				draggable={false}
			>
				{number + 1}
			</a>
			{props.time !== undefined && <span class="log-time">{props.time}</span>}
			<span class="log-text">
				{line?.level === "error" && <span class="sr-only">Error: </span>}
				{line ? <Spans spans={line.spans} matcher={props.matcher} /> : <span class="muted">…</span>}
				{line && line.left > 0 && <span class="log-more"> … {count(line.left)} more characters</span>}
			</span>
		</div>
	);
}
