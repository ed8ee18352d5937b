// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from "preact/hooks";
import { type Differ, differLoad, isComparable, type LinePair, maxCompared, textPairs, type Word } from "./text_diff.ts";

type Props = { readonly before: string; readonly after: string };

let differ: Differ | undefined;

const cut = (text: string) => (text.length > maxCompared ? `${text.slice(0, maxCompared)}…` : text);

// Both texts as they are: too long to compare, or not compared yet.
function Both({ before, after }: Props) {
	return (
		<>
			<span class="attribute-value user-text">
				<span class="sr-only">before: </span>
				{cut(before)}
			</span>
			<span class="attribute-value user-text">
				<span class="sr-only">after: </span>
				{cut(after)}
			</span>
		</>
	);
}

function Words({ words, kind, word }: { readonly words: readonly Word[] | undefined; readonly kind: string; readonly word: string }) {
	const differs = words?.some((part) => part.differs);
	return (
		<span class={`text-line user-text ${words ? "" : "none"} ${differs ? kind : ""}`}>
			{differs && <span class="sr-only">{word}: </span>}
			{words?.map((part, i) => (part.differs ? <mark key={i}>{part.text}</mark> : part.text))}
		</span>
	);
}

function Pair({ pair }: { readonly pair: LinePair }) {
	if (pair.kind === "skipped") {
		return <span class="text-skipped muted">{pair.count} unchanged lines</span>;
	}
	return (
		<>
			<Words words={pair.before} kind="removed" word="before" />
			<Words words={pair.after} kind="added" word="after" />
		</>
	);
}

// Two texts, line by line.
export function TextChange({ before, after }: Props) {
	const [loaded, setLoaded] = useState(differ);
	useEffect(() => {
		if (!differ && isComparable(before, after)) {
			differLoad().then(
				(load) => {
					differ = load;
					setLoaded(load);
				},
				() => {}, // both texts stay
			);
		}
	}, []);
	const pairs = loaded && textPairs(before, after, loaded);
	if (!pairs) {
		return <Both before={before} after={after} />;
	}
	return (
		<span class="text-change">
			{pairs.map((pair, i) => (
				<Pair key={i} pair={pair} />
			))}
		</span>
	);
}
