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

// ---- syntax ----

type Tree =
	| { readonly kind: "char"; readonly test: Test }
	| { readonly kind: "assert"; readonly holds: (text: string, at: number) => boolean }
	| { readonly kind: "sequence" | "choice"; readonly of: readonly Tree[] }
	| { readonly kind: "repeat"; readonly of: Tree; readonly least: number; readonly most: number };

export class PatternError extends Error {}

const isDigit: Test = (code) => code >= 48 && code <= 57;
const isWord: Test = (code) => isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const isSpace: Test = (code) => code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0x2028 || code === 0x2029;
const not =
	(test: Test): Test =>
	(code) =>
		!test(code);
const classes: Readonly<Record<string, Test>> = {
	d: isDigit,
	D: not(isDigit),
	w: isWord,
	W: not(isWord),
	s: isSpace,
	S: not(isSpace),
};
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

const wordAt = (text: string, at: number) => at >= 0 && at < text.length && isWord(text.charCodeAt(at));
const isBoundary = (text: string, at: number) => wordAt(text, at - 1) !== wordAt(text, at);

class Parser {
	readonly #text: string;
	readonly #ignoreCase: boolean;
	#at = 0;
	#depth = 0;

	constructor(text: string, ignoreCase: boolean) {
		this.#text = text;
		this.#ignoreCase = ignoreCase;
	}

	parse(): Tree {
		const tree = this.#choice();
		if (this.#at < this.#text.length) {
			throw new PatternError(`")" at ${this.#at + 1} closes nothing`);
		}
		return tree;
	}

	#take(expected: string): boolean {
		if (!this.#text.startsWith(expected, this.#at)) {
			return false;
		}
		this.#at += expected.length;
		return true;
	}

	#choice(): Tree {
		const of = [this.#sequence()];
		while (this.#take("|")) {
			of.push(this.#sequence());
		}
		return { kind: "choice", of };
	}

	#sequence(): Tree {
		const of: Tree[] = [];
		while (this.#at < this.#text.length && !"|)".includes(this.#text[this.#at] ?? "")) {
			of.push(this.#repeated());
		}
		return { kind: "sequence", of };
	}

	#repeated(): Tree {
		let tree = this.#atom();
		for (let times = this.#times(); times; times = this.#times()) {
			tree = { kind: "repeat", of: tree, ...times };
			this.#take("?"); // lazy: matches are the longest anyway
		}
		return tree;
	}

	#times(): { least: number; most: number } | undefined {
		if (this.#take("*")) {
			return { least: 0, most: Number.POSITIVE_INFINITY };
		}
		if (this.#take("+")) {
			return { least: 1, most: Number.POSITIVE_INFINITY };
		}
		if (this.#take("?")) {
			return { least: 0, most: 1 };
		}
		const braces = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.#text.slice(this.#at, this.#at + 12));
		if (!braces) {
			return undefined;
		}
		this.#at += braces[0].length;
		const least = Number(braces[1]);
		const most = braces[2] === "" ? least : braces[3] === "" ? Number.POSITIVE_INFINITY : Number(braces[3]);
		if (most < least) {
			throw new PatternError(`${braces[0]} has its numbers in the wrong order`);
		}
		return { least, most };
	}

	#atom(): Tree {
		const char = this.#text[this.#at] ?? "";
		if ("*+?".includes(char)) {
			throw new PatternError(`"${char}" at ${this.#at + 1} repeats nothing`);
		}
		this.#at += 1;
		switch (char) {
			case "(":
				return this.#group();
			case "[":
				return { kind: "char", test: this.#set() };
			case ".":
				return { kind: "char", test: () => true };
			case "^":
				return { kind: "assert", holds: (_, at) => at === 0 };
			case "$":
				return { kind: "assert", holds: (text, at) => at === text.length };
			case "\\":
				return this.#escape();
			default:
				return { kind: "char", test: this.#same(char.charCodeAt(0)) };
		}
	}

	#group(): Tree {
		if (this.#take("?") && !this.#take(":")) {
			throw new PatternError("lookaround and named groups are not supported");
		}
		if (++this.#depth > 50) {
			throw new PatternError("the pattern has too many groups in groups");
		}
		const tree = this.#choice();
		if (!this.#take(")")) {
			throw new PatternError('a "(" is not closed');
		}
		this.#depth -= 1;
		return tree;
	}

	#escape(): Tree {
		const char = this.#text[this.#at] ?? "";
		if (char === "b" || char === "B") {
			this.#at += 1;
			return { kind: "assert", holds: char === "b" ? isBoundary : (text, at) => !isBoundary(text, at) };
		}
		if (/[1-9k]/.test(char)) {
			throw new PatternError("backreferences are not supported");
		}
		const code = this.#escapedCode();
		return { kind: "char", test: typeof code === "number" ? this.#same(code) : code };
	}

	#escapedCode(): number | Test {
		const char = this.#text[this.#at] ?? "";
		if (!char) {
			throw new PatternError('a "\\" at the end escapes nothing');
		}
		const hex = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(this.#text.slice(this.#at, this.#at + 5));
		this.#at += hex ? hex[0].length : 1;
		return hex ? Number.parseInt(hex[1] ?? hex[2] ?? "", 16) : (classes[char] ?? controls[char] ?? char.charCodeAt(0));
	}

	#same(code: number): Test {
		if (!this.#ignoreCase) {
			return (other) => other === code;
		}
		const char = String.fromCharCode(code);
		const lower = char.toLowerCase().charCodeAt(0);
		const upper = char.toUpperCase().charCodeAt(0);
		return (other) => other === code || other === lower || other === upper;
	}

	#setItem(): number | Test {
		if (this.#take("\\")) {
			return this.#take("b") ? 8 : this.#escapedCode();
		}
		return this.#text.charCodeAt(this.#at++);
	}

	#set(): Test {
		const negated = this.#take("^");
		const tests: Test[] = [];
		while (!this.#take("]")) {
			if (this.#at >= this.#text.length) {
				throw new PatternError('a "[" is not closed');
			}
			const first = this.#setItem();
			const isRange = typeof first === "number" && this.#text[this.#at] === "-" && !"]".includes(this.#text[this.#at + 1] ?? "]");
			if (!isRange) {
				tests.push(typeof first === "number" ? this.#same(first) : first);
				continue;
			}
			this.#at += 1;
			const last = this.#setItem();
			if (typeof last !== "number" || last < first) {
				throw new PatternError("a range in [] has its ends in the wrong order");
			}
			tests.push(this.#range(first, last));
		}
		return (code) => tests.some((test) => test(code)) !== negated;
	}

	#range(first: number, last: number): Test {
		const inside: Test = (code) => code >= first && code <= last;
		if (!this.#ignoreCase) {
			return inside;
		}
		return (code) => {
			const char = String.fromCharCode(code);
			return inside(code) || inside(char.toLowerCase().charCodeAt(0)) || inside(char.toUpperCase().charCodeAt(0));
		};
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

	// find: the leftmost match at or after `from`.
	find(text: string, from = 0): Match | undefined {
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
			if (at === text.length || (best && this.#now.nodes.length === 0)) {
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
		this.#now.clear();
		for (let at = 0; at <= text.length; at++) {
			at = this.#now.nodes.length === 0 ? this.#candidate(text, at) : at;
			this.#follow(this.#now, this.#start, at, text, at);
			if (this.#now.nodes.includes(0)) {
				return true;
			}
			if (at < text.length) {
				this.#then.clear();
				this.#step(text.charCodeAt(at), text, at);
				[this.#now, this.#then] = [this.#then, this.#now];
			}
		}
		return false;
	}
}
