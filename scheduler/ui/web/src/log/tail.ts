// SPDX-License-Identifier: MPL-2.0
// Follows a log: the bytes of the event stream in their order, and those that it lacks by ranged reads.

import { type LiveEvent, subscribeAll } from "../core/live.ts";
import type { LogPart } from "../stream/messages.ts";

// Reads the bytes from the offset; none at the end of what is there. It throws if they can't be read.
export type ReadRange = (offset: number) => Promise<Uint8Array>;
export type OnBytes = (bytes: Uint8Array, ended: boolean) => void; // ended: the stream has sent the end of the log

export class LogTail {
	readonly #onBytes: OnBytes;
	readonly #range: ReadRange;
	#next: number;
	#reading: Promise<void> | undefined;
	#again = false;
	#ended = false;
	#stopped = false;

	constructor(offset: number, onBytes: OnBytes, range: ReadRange) {
		this.#next = offset;
		this.#onBytes = onBytes;
		this.#range = range;
	}

	// The bytes that were received.
	get offset(): number {
		return this.#next;
	}

	stop(): void {
		this.#stopped = true;
	}

	// part: bytes that the stream sent. Bytes that were received before are left out.
	part(part: LogPart): Promise<void> {
		this.#ended ||= part.ended;
		if (this.#reading || part.offset > this.#next) {
			return this.catchUp();
		}
		const fresh = part.bytes.subarray(Math.min(this.#next - part.offset, part.bytes.length));
		if (fresh.length > 0 || part.ended) {
			this.#take(fresh);
		}
		return Promise.resolve();
	}

	// catchUp reads what is there by now. Parts of the stream that come meanwhile are read with it.
	catchUp(): Promise<void> {
		this.#again = true;
		this.#reading ??= this.#read().finally(() => {
			this.#reading = undefined;
		});
		return this.#reading;
	}

	#take(bytes: Uint8Array): void {
		this.#next += bytes.length;
		if (!this.#stopped) {
			this.#onBytes(bytes, this.#ended);
		}
	}

	// After a failure the next event of the stream, or the next poll, reads on.
	async #read(): Promise<void> {
		try {
			while (this.#again && !this.#stopped) {
				this.#again = false;
				for (let more = true; more && !this.#stopped; ) {
					const bytes = await this.#range(this.#next);
					more = bytes.length > 0;
					if (more || this.#ended) {
						this.#take(bytes);
					}
				}
			}
		} catch {}
	}
}

const partOf = (event: LiveEvent) => event.attributes as unknown as LogPart;

// logTopic: the log of a plan or an apply, from the offset on.
export const logTopic = (id: string, offset: number) => `log:${id}@${offset}`;

// follow reads the log to its end, and then takes its events, until the returned function is called. Without a topic, only polls read on.
export function follow(log: LogTail, topic: string | undefined): () => void {
	const end = subscribeAll(topic ? [topic] : [], (event) => void (event.kind === "log" ? log.part(partOf(event)) : log.catchUp()));
	void log.catchUp();
	return end;
}
