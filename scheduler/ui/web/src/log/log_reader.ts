// SPDX-License-Identifier: MPL-2.0
// Reads a log until its end, and reads dropped blocks again.

import { blockBytes, LogBytes } from "./log_bytes.ts";
import { LogTail } from "./tail.ts";

export type LogSource = {
	// The bytes from `offset`, at most `limit`; none at the end. It throws if they can't be read.
	readonly range: (offset: number, limit: number) => Promise<Uint8Array>;
	readonly hasEnded: () => boolean; // the operation has ended, so the log does not grow
};
export type LogState = "reading" | "live" | "ended" | "interrupted";

export class LogReader {
	readonly bytes: LogBytes;
	readonly tail: LogTail;
	state: LogState = "reading";
	error: unknown;
	readonly #source: LogSource;
	readonly #onChange: () => void;
	readonly #loads = new Map<number, Promise<boolean>>();
	#stopped = false;

	constructor(source: LogSource, onChange: () => void, bytes = new LogBytes()) {
		this.#source = source;
		this.#onChange = onChange;
		this.bytes = bytes;
		this.tail = new LogTail(
			0,
			(part, ended) => this.#take(part, ended),
			(offset) => this.#range(offset),
		);
	}

	stop(): void {
		this.#stopped = true;
		this.tail.stop();
	}

	// read: all that is there by now.
	read(): Promise<void> {
		return this.state === "ended" ? Promise.resolve() : this.tail.catchUp();
	}

	#take(part: Uint8Array, ended: boolean): void {
		this.bytes.append(part);
		this.error = undefined;
		if (ended) {
			this.state = "ended";
		} else if (this.state === "interrupted") {
			this.state = "live";
		}
		this.#onChange();
	}

	#become(state: LogState, error: unknown): void {
		this.state = state;
		this.error = error;
		if (!this.#stopped) {
			this.#onChange();
		}
	}

	// hasEnded is asked before the read: what the operation wrote until its end is there then.
	async #range(offset: number): Promise<Uint8Array> {
		const ended = this.#source.hasEnded();
		try {
			const range = await this.#source.range(offset, blockBytes);
			if (range.length > 0) {
				this.state = "reading";
			} else {
				this.#become(ended || this.bytes.endsWithEtx ? "ended" : "live", undefined);
			}
			return range;
		} catch (error) {
			this.#become("interrupted", error);
			throw error;
		}
	}

	// load: reads a dropped block again. Returns false if that is not possible, or its bytes are others by now.
	load(block: number): Promise<boolean> {
		const before = this.#loads.get(block);
		if (before) {
			return before;
		}
		const load = this.#load(block).finally(() => this.#loads.delete(block));
		this.#loads.set(block, load);
		return load;
	}

	async #load(block: number): Promise<boolean> {
		try {
			const parts: Uint8Array[] = [];
			const { blockSize } = this.bytes;
			for (let size = 0; size < blockSize && !this.#stopped; ) {
				const part = await this.#source.range(block * blockSize + size, blockSize - size);
				if (part.length === 0) {
					break;
				}
				parts.push(part);
				size += part.length;
			}
			return !this.#stopped && this.bytes.restore(block, joined(parts));
		} catch {
			return false;
		}
	}
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
	const [first] = parts;
	if (first && parts.length === 1) {
		return first;
	}
	const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	parts.reduce((at, part) => {
		all.set(part, at);
		return at + part.length;
	}, 0);
	return all;
}
