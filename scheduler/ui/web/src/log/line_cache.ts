// SPDX-License-Identifier: MPL-2.0
// The decoded lines that are in view. Lines of dropped blocks are read again.

import { type Line, lineOf } from "./line.ts";
import { decode, isMissing } from "./log_bytes.ts";
import type { LogReader } from "./log_reader.ts";

const maxLines = 2000;
const linesToFindStart = 50;
const retryMs = 3000;

export class LineCache {
	readonly #reader: LogReader;
	readonly #lines = new Map<number, Line>();
	#raw = false;
	readonly #failed = new Map<number, number>(); // blocks that could not be read again, and when

	constructor(reader: LogReader) {
		this.#reader = reader;
	}

	set raw(raw: boolean) {
		if (raw !== this.#raw) {
			this.#raw = raw;
			this.#lines.clear();
		}
	}

	// line: undefined if its bytes are not here; onLoad is called once they are.
	line(number: number, onLoad: () => void): Line | undefined {
		const known = this.#lines.get(number);
		if (known) {
			return known;
		}
		const read = this.#reader.bytes.line(number);
		if (isMissing(read)) {
			this.#load(read.missing, onLoad);
			return undefined;
		}
		const shown = lineOf(decode(read.bytes), this.#raw);
		const line = { ...shown, left: shown.left + read.left };
		if (number < this.#reader.bytes.completeLines) {
			if (this.#lines.size >= maxLines) {
				this.#lines.clear();
			}
			this.#lines.set(number, line);
		}
		return line;
	}

	#load(block: number, onLoad: () => void): void {
		if (performance.now() - (this.#failed.get(block) ?? Number.NEGATIVE_INFINITY) < retryMs) {
			return;
		}
		void this.#reader.load(block).then((loaded) => {
			if (loaded) {
				onLoad();
			} else {
				this.#failed.set(block, performance.now());
			}
		});
	}

	widthOf(line: Line | undefined): number {
		return line?.spans.reduce((sum, span) => sum + span.text.length, 0) ?? 0;
	}

	// startTime: the first time in the log, if its first lines have one.
	startTime(): number | undefined {
		for (let i = 0; i < Math.min(this.#reader.bytes.lineCount, linesToFindStart); i++) {
			const time = this.line(i, () => {})?.time;
			if (time !== undefined) {
				return time;
			}
		}
		return undefined;
	}
}
