// SPDX-License-Identifier: MPL-2.0
// The bytes of a log in blocks, and where its lines begin. Of a large log, only some blocks are kept; the numbers of
// lines of a dropped block stay known, and its bytes are read again when they are needed.

export const blockBytes = 1 << 20;
export const blocksKept = 32;
const leastKept = 4; // a line may need three blocks at once
export const lineLimit = 64 << 10; // bytes of a line that are decoded

const newline = 10;
const carriageReturn = 13;

type Block = {
	bytes: Uint8Array | undefined; // undefined: dropped
	ends: number[]; // positions of newlines in it
	size: number;
	linesBefore: number; // newlines before the block
	lines: number; // newlines in the block
	opens: boolean; // its first byte begins a line
	used: number; // when it was read last
};

export type Missing = { readonly missing: number }; // the block to read again
export type LineBytes = { readonly bytes: Uint8Array; readonly left: number }; // left: bytes after these

export function isMissing(value: object): value is Missing {
	return "missing" in value;
}

// STX and ETX frame the stream. They are not part of the output.
const isFrame = (byte: number | undefined) => byte === 2 || byte === 3;

export class LogBytes {
	readonly blockSize: number;
	readonly #blocks: Block[] = [];
	readonly #kept: number;
	#clock = 0;
	#length = 0;
	#newlines = 0;

	constructor(kept = blocksKept, blockSize = blockBytes) {
		this.blockSize = blockSize;
		this.#kept = Math.max(kept, leastKept);
	}

	get length(): number {
		return this.#length;
	}

	// Lines that have their newline.
	get completeLines(): number {
		return this.#newlines;
	}

	get lineCount(): number {
		const last = this.#blocks.at(-1);
		const from = last?.ends.length ? (last.ends.at(-1) ?? 0) + 1 : 0;
		const tail = last?.bytes?.subarray(from, last.size) ?? new Uint8Array();
		const isLine = tail.length > 2 || tail.some((byte) => !isFrame(byte)) || (from === 0 && last?.opens === false);
		return this.#newlines + (isLine ? 1 : 0);
	}

	get endsWithEtx(): boolean {
		const last = this.#blocks.at(-1);
		return last?.bytes?.[last.size - 1] === 3;
	}

	get blocksLoaded(): number {
		return this.#blocks.filter((block) => block.bytes).length;
	}

	append(bytes: Uint8Array): void {
		for (let at = 0; at < bytes.length; ) {
			let block = this.#blocks.at(-1);
			if (!block || block.size === this.blockSize) {
				block = this.#add();
			}
			const part = bytes.subarray(at, at + this.blockSize - block.size);
			this.#extend(block, part);
			at += part.length;
		}
	}

	#add(): Block {
		const before = this.#blocks.at(-1);
		const opens = !before || before.ends.at(-1) === this.blockSize - 1;
		const used = ++this.#clock;
		const block = { bytes: new Uint8Array(0), ends: [], size: 0, linesBefore: this.#newlines, lines: 0, opens, used };
		this.#blocks.push(block);
		this.#dropOld();
		return block;
	}

	#extend(block: Block, part: Uint8Array): void {
		const size = block.size + part.length;
		let room = block.bytes ?? new Uint8Array(0);
		if (room.length < size) {
			room = new Uint8Array(Math.min(Math.max(size, room.length * 2), this.blockSize));
			room.set(block.bytes ?? []);
		}
		room.set(part, block.size);
		block.bytes = room;
		endsAdd(block.ends, room, block.size, size);
		block.size = size;
		block.lines = block.ends.length;
		this.#length += part.length;
		this.#newlines = block.linesBefore + block.lines;
	}

	// restore puts a dropped block back. It returns false if the bytes are not those that were read before.
	restore(index: number, bytes: Uint8Array): boolean {
		const block = this.#blocks[index];
		if (!block || block.bytes) {
			return block !== undefined;
		}
		const ends: number[] = [];
		endsAdd(ends, bytes, 0, bytes.length);
		if (bytes.length !== block.size || ends.length !== block.lines) {
			return false;
		}
		block.bytes = bytes;
		block.ends = ends;
		block.used = ++this.#clock;
		this.#dropOld();
		return true;
	}

	// The last block grows, so it is never dropped.
	#dropOld(): void {
		const loaded = this.#blocks.slice(0, -1).filter((block) => block.bytes);
		if (loaded.length < this.#kept) {
			return;
		}
		const oldest = loaded.reduce((a, b) => (a.used <= b.used ? a : b));
		oldest.bytes = undefined;
		oldest.ends = [];
	}

	#use(index: number): Block | undefined {
		const block = this.#blocks[index];
		if (block?.bytes) {
			block.used = ++this.#clock;
			return block;
		}
		return undefined;
	}

	// The block that holds the newline with that number.
	#blockOfNewline(number: number): number {
		let low = 0;
		let high = this.#blocks.length - 1;
		while (low < high) {
			const middle = (low + high) >> 1;
			const block = this.#blocks[middle] as Block;
			if (block.linesBefore + block.lines > number) {
				high = middle;
			} else {
				low = middle + 1;
			}
		}
		return low;
	}

	#newlineAt(number: number): number | Missing {
		const index = this.#blockOfNewline(number);
		const block = this.#use(index);
		return block ? index * this.blockSize + (block.ends[number - block.linesBefore] ?? 0) : { missing: index };
	}

	#range(line: number): { from: number; to: number } | Missing {
		const before = line === 0 ? -1 : this.#newlineAt(line - 1);
		const end = line < this.#newlines ? this.#newlineAt(line) : this.#length;
		if (typeof before !== "number") {
			return before;
		}
		return typeof end === "number" ? { from: before + 1, to: end } : end;
	}

	#slice(from: number, to: number): Uint8Array | Missing {
		const out = new Uint8Array(to - from);
		for (let at = from; at < to; ) {
			const index = Math.floor(at / this.blockSize);
			const block = this.#use(index);
			if (!block?.bytes) {
				return { missing: index };
			}
			const begin = at - index * this.blockSize;
			const part = block.bytes.subarray(begin, Math.min(block.size, begin + to - at));
			if (part.length === to - from) {
				return part;
			}
			out.set(part, at - from);
			at += part.length;
		}
		return out;
	}

	// line: the bytes of a line without its newline. Of one over lineLimit: its last text after a carriage return, or
	// its first bytes.
	line(number: number): LineBytes | Missing {
		const range = this.#range(number);
		if (isMissing(range)) {
			return range;
		}
		const size = range.to - range.from;
		if (size <= lineLimit) {
			const bytes = this.#slice(range.from, range.to);
			return isMissing(bytes) ? bytes : { bytes, left: 0 };
		}
		const end = this.#slice(range.to - lineLimit, range.to);
		if (isMissing(end)) {
			return end;
		}
		const last = end.lastIndexOf(carriageReturn, end.length - 2);
		if (last >= 0) {
			return { bytes: end.subarray(last + 1), left: 0 };
		}
		const bytes = this.#slice(range.from, range.from + lineLimit);
		return isMissing(bytes) ? bytes : { bytes, left: size - lineLimit };
	}

	// lineText: the whole line for copying, up to `most` bytes.
	lineText(number: number, most: number): string | Missing {
		const range = this.#range(number);
		if (isMissing(range)) {
			return range;
		}
		const bytes = this.#slice(range.from, Math.min(range.to, range.from + most));
		return isMissing(bytes) ? bytes : decode(bytes);
	}

	blockOfLine(line: number): number {
		return line === 0 ? 0 : Math.min(this.#blockOfNewline(line - 1), Math.max(this.#blocks.length - 1, 0));
	}

	// texts: the lines that begin in the block, decoded at once, and the number of the first.
	texts(index: number): { readonly first: number; readonly texts: readonly string[] } | Missing {
		const block = this.#use(index);
		if (!block?.bytes) {
			return { missing: index };
		}
		const texts = decode(block.bytes.subarray(0, block.size)).split("\n");
		const skipped = block.opens ? 0 : 1; // the rest of a line that begins before the block
		const first = block.linesBefore + skipped;
		if (texts.at(-1) === "") {
			texts.pop(); // the next line begins in the next block
		}
		texts.splice(0, skipped);
		texts.length = Math.min(texts.length, Math.max(this.lineCount - first, 0));
		for (let i = 0; i < texts.length; i++) {
			const continues = first + i === block.linesBefore + block.lines && index < this.#blocks.length - 1;
			if (continues || (texts[i] ?? "").length > lineLimit) {
				const whole = this.line(first + i);
				if (isMissing(whole)) {
					return whole;
				}
				texts[i] = decode(whole.bytes);
			}
		}
		return { first, texts };
	}

	get blockCount(): number {
		return this.#blocks.length;
	}
}

function endsAdd(ends: number[], bytes: Uint8Array, from: number, to: number): void {
	for (let at = bytes.indexOf(newline, from); at >= 0 && at < to; at = bytes.indexOf(newline, at + 1)) {
		ends.push(at);
	}
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// decode: invalid UTF-8 becomes U+FFFD.
export function decode(bytes: Uint8Array): string {
	return decoder.decode(bytes);
}
