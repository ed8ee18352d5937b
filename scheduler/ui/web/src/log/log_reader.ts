// SPDX-License-Identifier: MPL-2.0
// Reads a log in ranges until its end, and reads dropped blocks again.

import { blockBytes, LogBytes } from "./log_bytes.ts";

export type LogSource = {
	// The bytes from `offset`, at most `limit`; none at the end. It throws if they can't be read.
	readonly range: (offset: number, limit: number) => Promise<Uint8Array>;
	readonly hasEnded: () => boolean; // the operation has ended, so the log does not grow
};
export type LogState = "reading" | "live" | "ended" | "interrupted";

export class LogReader {
	readonly bytes: LogBytes;
	state: LogState = "reading";
	error: unknown;
	readonly #source: LogSource;
	readonly #onChange: () => void;
	readonly #loads = new Map<number, Promise<boolean>>();
	#busy = false;
	#stopped = false;

	constructor(source: LogSource, onChange: () => void, bytes = new LogBytes()) {
		this.#source = source;
		this.#onChange = onChange;
		this.bytes = bytes;
	}

	stop(): void {
		this.#stopped = true;
	}

	// read: all that is there by now.
	async read(): Promise<void> {
		if (this.#busy || this.#stopped || this.state === "ended") {
			return;
		}
		this.#busy = true;
		try {
			while (!this.#stopped && (await this.#next())) {
				this.#onChange();
			}
			this.error = undefined;
		} catch (error) {
			this.error = error;
			this.state = "interrupted";
		} finally {
			this.#busy = false;
		}
		if (!this.#stopped) {
			this.#onChange();
		}
	}

	// Asked before the read: what the operation wrote until its end is there then.
	async #next(): Promise<boolean> {
		const ended = this.#source.hasEnded();
		const range = await this.#source.range(this.bytes.length, blockBytes);
		this.bytes.append(range);
		if (range.length === 0) {
			this.state = ended || this.bytes.endsWithEtx ? "ended" : "live";
			return false;
		}
		this.state = "reading";
		return true;
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
			for (let size = 0; size < blockBytes && !this.#stopped; ) {
				const part = await this.#source.range(block * blockBytes + size, blockBytes - size);
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
