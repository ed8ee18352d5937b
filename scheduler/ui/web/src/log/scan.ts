// SPDX-License-Identifier: MPL-2.0
// Reads all lines of a log in slices, so that the page never stops, and collects the numbers of some of them. It goes
// on where it stopped when the log has grown.

import { isMissing, type LogBytes } from "./log_bytes.ts";

export const maxFound = 100_000;
const sliceMs = 10;
const linesPerCheck = 16;
const progressMs = 100;

export const none: readonly number[] = [];

// Returns the lines to collect, up to this one.
export type Visit = (line: number, text: string) => readonly number[];

export type ScanHost = {
	readonly load: (block: number) => Promise<boolean>; // reads a dropped block again
	readonly pause: () => Promise<void>; // lets the page work
	readonly now: () => number;
};

// pauseTask: a macrotask, so that input and drawing come first.
export function pauseTask(): Promise<void> {
	return new Promise((resume) => {
		const channel = new MessageChannel();
		channel.port1.onmessage = () => {
			channel.port1.close();
			resume();
		};
		channel.port2.postMessage(null);
	});
}

export class Scan {
	readonly found: number[] = []; // ascending
	next = 0; // the first line that was not read
	full = false; // there are more than maxFound
	readonly #log: LogBytes;
	readonly #visit: Visit;
	readonly #host: ScanHost;
	#shown = 0;
	#running = false;
	#stopped = false;

	constructor(log: LogBytes, visit: Visit, host: ScanHost) {
		this.#log = log;
		this.#visit = visit;
		this.#host = host;
	}

	stop(): void {
		this.#stopped = true;
	}

	// Reads up to the line `until`, which is not included. onProgress is called now and then, and at the end.
	async advance(until: number, onProgress: () => void): Promise<void> {
		if (this.#running) {
			return;
		}
		this.#running = true;
		try {
			while (this.next < until && !this.#stopped && !this.full) {
				if (!(await this.#block(until, onProgress))) {
					break;
				}
			}
		} finally {
			this.#running = false;
		}
		if (!this.#stopped) {
			onProgress();
		}
	}

	// The lines that begin in the block of the next line. Returns false if they can't be read.
	async #block(until: number, onProgress: () => void): Promise<boolean> {
		let index = this.#log.blockOfLine(this.next);
		let read = this.#log.texts(index);
		for (let tries = 0; isMissing(read); tries++) {
			if (tries > 3 || !(await this.#host.load(read.missing))) {
				return false;
			}
			read = this.#log.texts(index);
		}
		if (read.first + read.texts.length <= this.next) {
			index += 1; // the line begins where the next block does
			read = this.#log.texts(index);
			if (isMissing(read)) {
				return this.#host.load(read.missing);
			}
		}
		const before = this.next;
		let began = this.#host.now();
		for (let i = this.next - read.first; i < read.texts.length && this.next < until && !this.#stopped; i++) {
			this.#collect(this.#visit(this.next, read.texts[i] ?? ""));
			this.next += 1;
			if (this.next % linesPerCheck === 0 && this.#host.now() - began > sliceMs) {
				if (this.#host.now() - this.#shown > progressMs) {
					this.#shown = this.#host.now();
					onProgress();
				}
				await this.#host.pause();
				began = this.#host.now();
			}
		}
		return this.next > before;
	}

	#collect(lines: readonly number[]): void {
		if (lines.length === 0) {
			return;
		}
		if (this.found.length + lines.length > maxFound) {
			this.full = true;
			return;
		}
		this.found.push(...lines);
	}
}
