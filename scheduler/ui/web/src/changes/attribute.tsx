// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Toggle } from "../components/button.tsx";
import { isLong, sideText } from "./side.ts";
import { TextChange } from "./text_change.tsx";
import type { Node, Row, Side, State } from "./tree.ts";

type Props = { readonly row: Row & { readonly kind: "node" }; readonly onToggle: () => void };

const words: Readonly<Record<State, string>> = { same: "unchanged", changed: "changed", added: "added", removed: "removed" };
const glyphs: Readonly<Record<State, string>> = { same: "", changed: "~", added: "+", removed: "−" };
const deepest = 12;

function Value({ side, word }: { readonly side: Side; readonly word: string }) {
	const isMark = side.kind !== "value";
	return (
		<span class={`attribute-value ${isMark ? "mark-text" : ""}`}>
			{side.kind !== "absent" && <span class="sr-only">{word}: </span>}
			<bdi>{sideText(side)}</bdi>
		</span>
	);
}

function Labels({ node }: { readonly node: Node }) {
	return (
		<>
			{node.forces && <strong class="forces">forces replacement</strong>}
			{node.labels.map((label) => (
				<span key={label} class="chip">
					{label}
				</span>
			))}
		</>
	);
}

// The values of a leaf: long texts line by line, others side by side.
function Values({ node }: { readonly node: Node }) {
	const { before, after, state } = node;
	if (state === "changed" && isLong(before) && isLong(after)) {
		return <TextChange before={before.value} after={after.value} />;
	}
	return (
		<>
			<Value side={before} word="before" />
			<Value side={after} word="after" />
		</>
	);
}

// The sides of a container: null, unknown and sensitive ones are named. The children show the others.
function Ends({ node }: { readonly node: Node }) {
	const end = (side: Side) => (side.kind === "value" && side.value !== null ? { kind: "absent" as const } : side);
	const empty = node.children?.length === 0;
	return (
		<>
			<Value side={empty ? node.before : end(node.before)} word="before" />
			<Value side={empty ? node.after : end(node.after)} word="after" />
		</>
	);
}

export function Attribute({ row, onToggle }: Props) {
	const { node, depth } = row;
	const [raw, setRaw] = useState(false);
	const isContainer = node.children !== undefined;
	const isJson = node.shape === "json";
	return (
		<div class={`attribute ${node.state}`}>
			<span class="attribute-name" style={{ paddingLeft: `${Math.min(depth, deepest) * 16}px` }}>
				<span class="attribute-glyph" aria-hidden="true">
					{glyphs[node.state]}
				</span>
				{isContainer && (
					<button type="button" class="icon-button" aria-expanded={row.open} aria-label={node.key} onClick={onToggle}>
						{row.open ? "▾" : "▸"}
					</button>
				)}
				<bdi>{node.key === "" ? '""' : node.key}</bdi>
				<span class="sr-only"> {words[node.state]}</span> <Labels node={node} />
				{isJson && (
					<Toggle on={raw} onToggle={() => setRaw(!raw)}>
						Raw
					</Toggle>
				)}
			</span>
			{isContainer && !raw ? (
				<Ends node={isJson ? { ...node, before: { kind: "absent" }, after: { kind: "absent" } } : node} />
			) : (
				<Values node={node} />
			)}
		</div>
	);
}
