// SPDX-License-Identifier: MPL-2.0
// Regular expressions that take a time linear in the text, whatever the pattern: an automaton is simulated, without
// backtracking. Backreferences and lookaround are not supported. Matches are the leftmost, then the longest.

export type Match = { readonly from: number; readonly to: number };

type Test = (code: number) => boolean;
type Node =
	| { readonly kind: "char"; readonly test: Test; next: number }
	| { readonly kind: "split"; next: number; other: number }
	| { readonly kind: "assert"; readonly holds: (text: string, at: number) => boolean; next: number }
	| { readonly kind: "match" };

const maxNodes = 2000;

// ---- syntax: the browser checks it, so that it need not be checked here ----

type Tree =
	| { readonly kind: "char"; readonly test: Test }
	| { readonly kind: "assert"; readonly holds: (text: string, at: number) => boolean }
	| { readonly kind: "sequence" | "choice"; readonly of: readonly Tree[] }
	| { readonly kind: "repeat"; readonly of: Tree; readonly least: number; readonly most: number };

export class PatternError extends Error {}

const deepest = 50; // groups in groups
const token = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|c[a-zA-Z]|.)|\[\^?(?:\\.|[^\]])*\]|\((?:\?:)?|\{\d+(?:,\d*)?\}|./gs;
const unsupported: readonly (readonly [RegExp, string])[] = [
	[/^\\[1-9k]/, "backreferences are not supported"],
	[/^\?/, "lookaround and named groups are not supported"],
];
// The test of one class, escape or character. The answers for ASCII are kept.
function testOf(source: string, ignoreCase: boolean): Test {
	if (source === ".") {
		return () => true;
	}
	const one = new RegExp(`^${source}$`, ignoreCase ? "is" : "s");
	const matches = (code: number) => one.test(String.fromCharCode(code));
	const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(matches(code)));
	return (code) => (code < 128 ? ascii[code] === 1 : matches(code));
}

const isWord = testOf("\\w", false);
const wordAt = (text: string, at: number) => isWord(text.charCodeAt(at));
const isBoundary = (text: string, at: number) => wordAt(text, at - 1) !== wordAt(text, at);
const asserts: Readonly<Record<string, (text: string, at: number) => boolean>> = {
	"^": (_, at) => at === 0,
	$: (text, at) => at === text.length,
	"\\b": isBoundary,
	"\\B": (text, at) => !isBoundary(text, at),
};
const times: Readonly<Record<string, readonly [least: number, most: number]>> = {
	"*": [0, Number.POSITIVE_INFINITY],
	"+": [1, Number.POSITIVE_INFINITY],
	"?": [0, 1],
};

class Parser {
	readonly #tokens: readonly string[];
	readonly #ignoreCase: boolean;
	readonly #tests = new Map<string, Test>();
	#at = 0;
	#depth = 0;

	constructor(text: string, ignoreCase: boolean) {
		try {
			new RegExp(text, "s");
		} catch (error) {
			throw new PatternError(String((error as Error).message).replace(/^.*: /, ""));
		}
		this.#tokens = text.match(token) ?? [];
		this.#ignoreCase = ignoreCase;
	}

	// A choice of sequences, up to the end of its group.
	parse(): Tree {
		const choices: Tree[][] = [[]];
		for (let next = this.#tokens[this.#at]; next !== undefined && next !== ")"; next = this.#tokens[this.#at]) {
			if (next === "|") {
				this.#at += 1;
				choices.push([]);
			} else {
				choices.at(-1)?.push(this.#repeated());
			}
		}
		return { kind: "choice", of: choices.map((of) => ({ kind: "sequence", of })) };
	}

	#repeated(): Tree {
		const tree = this.#atom();
		const next = this.#tokens[this.#at] ?? "";
		const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}$/.exec(next) ?? [];
		const range =
			least === undefined ? times[next] : ([Number(least), comma ? Number(most || Number.POSITIVE_INFINITY) : Number(least)] as const);
		if (!range) {
			return tree;
		}
		this.#at += this.#tokens[this.#at + 1] === "?" ? 2 : 1; // lazy: matches are the longest anyway
		return { kind: "repeat", of: tree, least: range[0], most: range[1] };
	}

	#atom(): Tree {
		const source = this.#tokens[this.#at++] ?? "";
		if (source.startsWith("(")) {
			return this.#group();
		}
		this.#refuse(source);
		const holds = asserts[source];
		return holds ? { kind: "assert", holds } : { kind: "char", test: this.#test(source) };
	}

	#group(): Tree {
		this.#refuse(this.#tokens[this.#at] ?? "");
		if (++this.#depth > deepest) {
			throw new PatternError("the pattern has too many groups in groups");
		}
		const tree = this.parse();
		this.#at += 1;
		this.#depth -= 1;
		return tree;
	}

	#refuse(source: string): void {
		const found = unsupported.find(([start]) => start.test(source));
		if (found) {
			throw new PatternError(found[1]);
		}
	}

	#test(source: string): Test {
		const test = this.#tests.get(source) ?? testOf(/^[{}\]]$/.test(source) ? `\\${source}` : source, this.#ignoreCase);
		this.#tests.set(source, test);
		return test;
	}
}

// ---- automaton ----

// Nodes are made from the end of the pattern to its start: each knows what follows it.
class Builder {
	readonly nodes: Node[] = [{ kind: "match" }];

	add(node: Node): number {
		if (this.nodes.length >= maxNodes) {
			throw new PatternError("the pattern is too large");
		}
		this.nodes.push(node);
		return this.nodes.length - 1;
	}

	build(tree: Tree, next: number): number {
		switch (tree.kind) {
			case "char":
			case "assert":
				return this.add({ ...tree, next });
			case "sequence":
				return tree.of.reduceRight((after, part) => this.build(part, after), next);
			case "choice":
				return tree.of.map((part) => this.build(part, next)).reduceRight((other, first) => this.add({ kind: "split", next: first, other }));
			case "repeat":
				return this.#repeat(tree.of, tree.least, tree.most, next);
		}
	}

	#repeat(of: Tree, least: number, most: number, next: number): number {
		let at = next;
		if (most === Number.POSITIVE_INFINITY) {
			const loop: Node = { kind: "split", next: 0, other: next };
			at = this.add(loop);
			loop.next = this.build(of, at);
		} else {
			for (let i = least; i < most; i++) {
				at = this.add({ kind: "split", next: this.build(of, at), other: next });
			}
		}
		for (let i = 0; i < least; i++) {
			at = this.build(of, at);
		}
		return at;
	}
}

// The nodes that are active at one position, each with the earliest start that leads to it.
class Threads {
	readonly nodes: number[] = [];
	readonly starts: number[] = [];
	readonly #seen: Uint32Array;
	#mark = 1;

	constructor(size: number) {
		this.#seen = new Uint32Array(size);
	}

	clear(): void {
		this.nodes.length = 0;
		this.starts.length = 0;
		this.#mark += 1;
	}

	add(node: number, start: number): boolean {
		if (this.#seen[node] === this.#mark) {
			return false;
		}
		this.#seen[node] = this.#mark;
		this.nodes.push(node);
		this.starts.push(start);
		return true;
	}
}

export class Pattern {
	readonly #nodes: readonly Node[];
	readonly #start: number;
	readonly #firsts: readonly Test[] | undefined; // of the first character; undefined: a match may need none
	#now: Threads;
	#then: Threads;

	constructor(text: string, ignoreCase: boolean) {
		const builder = new Builder();
		this.#start = builder.build(new Parser(text, ignoreCase).parse(), 0);
		this.#nodes = builder.nodes;
		this.#now = new Threads(builder.nodes.length);
		this.#then = new Threads(builder.nodes.length);
		this.#firsts = this.#firstTests();
	}

	#firstTests(): readonly Test[] | undefined {
		const tests: Test[] = [];
		const seen = new Set<number>();
		const pending = [this.#start];
		for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
			const node = this.#nodes[index] as Node;
			if (node.kind === "match" || node.kind === "assert") {
				return undefined;
			}
			if (node.kind === "char") {
				tests.push(node.test);
			} else if (!seen.has(index)) {
				seen.add(index);
				pending.push(node.next, node.other);
			}
		}
		return tests;
	}

	// The first place from `from` on where a match may begin.
	#candidate(text: string, from: number): number {
		let at = from;
		while (at < text.length && this.#firsts && !this.#firsts.some((test) => test(text.charCodeAt(at)))) {
			at += 1;
		}
		return at;
	}

	// Adds a node and all that it leads to without a character.
	#follow(threads: Threads, first: number, start: number, text: string, at: number): void {
		const pending = [first];
		for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
			const node = this.#nodes[index] as Node;
			if (!threads.add(index, start)) {
				continue;
			}
			if (node.kind === "split") {
				pending.push(node.other, node.next);
			} else if (node.kind === "assert" && node.holds(text, at)) {
				pending.push(node.next);
			}
		}
	}

	#step(code: number, text: string, at: number): void {
		const { nodes, starts } = this.#now;
		for (let i = 0; i < nodes.length; i++) {
			const node = this.#nodes[nodes[i] as number] as Node;
			if (node.kind === "char" && node.test(code)) {
				this.#follow(this.#then, node.next, starts[i] as number, text, at + 1);
			}
		}
	}

	// find: the leftmost match at or after `from`; with `any`, one that need not be the longest.
	find(text: string, from = 0, any = false): Match | undefined {
		let best: Match | undefined;
		this.#now.clear();
		for (let at = from; at <= text.length; at++) {
			if (!best) {
				at = this.#now.nodes.length === 0 ? this.#candidate(text, at) : at;
				this.#follow(this.#now, this.#start, at, text, at);
			}
			const matched = this.#now.nodes.indexOf(0);
			const start = this.#now.starts[matched];
			if (start !== undefined && (!best || start <= best.from)) {
				best = { from: start, to: at };
			}
			if (at === text.length || (best && (any || this.#now.nodes.length === 0))) {
				break;
			}
			this.#then.clear();
			this.#step(text.charCodeAt(at), text, at);
			[this.#now, this.#then] = [this.#then, this.#now];
		}
		return best;
	}

	// test: whether it matches anywhere.
	test(text: string): boolean {
		return this.find(text, 0, true) !== undefined;
	}
}
