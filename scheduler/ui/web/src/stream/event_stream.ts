// SPDX-License-Identifier: MPL-2.0
// The event stream (GET /api/v2/events) of all pages of a browser. It connects again, from the last id.

import { waitAfter } from "../core/connection.ts";
import type { LogPart, StreamEvent, StreamState } from "./messages.ts";
import { type Frame, Parser } from "./parser.ts";
import { keyOf } from "./topics.ts";

export type Host = {
	readonly topics: () => string[];
	readonly onEvent: (event: StreamEvent) => void;
	readonly onReset: () => void;
	readonly onState: (state: StreamState) => void;
	readonly onReconnect: () => void;
	readonly onSignedOut: () => void;
};

const silenceMs = 45_000; // the server sends a comment every 15 s
const answerMs = 10_000; // the server answers at once
const doubtMs = 20_000; // older than that, a stream that should be awake is opened again

const bytesOf = (data: Readonly<Record<string, unknown>>): Uint8Array =>
	typeof data.base64 === "string"
		? Uint8Array.from(atob(data.base64), (character) => character.charCodeAt(0))
		: new TextEncoder().encode(typeof data.text === "string" ? data.text : "");

export function logPartOf(data: Readonly<Record<string, unknown>>): LogPart {
	return { id: String(data.id), offset: Number(data.offset), bytes: bytesOf(data), ended: data.ended === true };
}

function dataOf(frame: Frame): Readonly<Record<string, unknown>> | undefined {
	try {
		const data: unknown = JSON.parse(frame.data);
		return data !== null && typeof data === "object" ? (data as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}

type Position = { readonly id: string; readonly at: number };

// A page may have read an object shortly before its topic is in the set. The server sends the events of that time again.
const againMs = 3000;
const mostPositions = 200;

// positionsAfter keeps the newest position that is older than againMs, and those after it.
export function positionsAfter(positions: readonly Position[], now: number): Position[] {
	const old = positions.filter((position) => now - position.at >= againMs).length;
	return positions.slice(Math.max(old - 1, 0));
}

export class EventStream {
	readonly #host: Host;
	#state: StreamState = { state: "connecting" };
	#positions: Position[] = []; // the ids that came, the oldest first
	#keys: string | undefined; // of the open stream
	#open: AbortController | undefined;
	#retry: ReturnType<typeof setTimeout> | undefined;
	#failures = 0;
	#missed = true; // changes may have happened before the stream: what is shown is read again
	#lastBytes = 0;
	#answered = false;

	constructor(host: Host) {
		this.#host = host;
	}

	get state(): StreamState {
		return this.#state;
	}

	// update opens the stream again if the set of topics has changed. Without topics there is no stream.
	update(): void {
		const topics = this.#host.topics();
		const keys = topics.map(keyOf).join(",");
		if (keys === this.#keys) {
			return;
		}
		this.#keys = keys;
		if (topics.length === 0) {
			this.#close();
			this.#tell({ state: "live" });
		} else if (this.#retry === undefined) {
			this.#connect();
		}
	}

	// wake: a page comes back from the background or is online again.
	wake(): void {
		if (this.#keys && (this.#retry !== undefined || Date.now() - this.#lastBytes > doubtMs)) {
			this.#connect();
		}
	}

	// check: once every few seconds.
	check(): void {
		if (this.#open && Date.now() - this.#lastBytes > (this.#answered ? silenceMs : answerMs)) {
			this.#open.abort();
			this.#failed();
		}
	}

	#close(): void {
		clearTimeout(this.#retry);
		this.#retry = undefined;
		this.#open?.abort();
		this.#open = undefined;
	}

	#tell(state: StreamState): void {
		this.#state = state;
		this.#host.onState(state);
	}

	#connect(): void {
		this.#close();
		const open = new AbortController();
		this.#open = open;
		this.#answered = false;
		this.#lastBytes = Date.now();
		this.#read(open.signal)
			.catch(() => {})
			.then(() => {
				if (this.#open === open) {
					this.#failed();
				}
			});
	}

	#failed(): void {
		this.#close();
		this.#failures += 1;
		this.#missed = true;
		const wait = waitAfter(this.#failures, Math.random());
		this.#retry = setTimeout(() => this.#connect(), wait);
		this.#tell({ state: "reconnecting", at: Date.now() + wait });
	}

	async #read(signal: AbortSignal): Promise<void> {
		const since = positionsAfter(this.#positions, Date.now())[0]?.id;
		const query = new URLSearchParams({ topics: this.#host.topics().join(","), ...(since && { since }) });
		const answer = await fetch(`/api/v2/events?${query}`, { signal, cache: "no-store" });
		if (answer.status === 401) {
			this.#host.onSignedOut();
		}
		if (!answer.ok || !answer.body) {
			return;
		}
		const reader = answer.body.getReader();
		const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
		const parser = new Parser();
		for (;;) {
			const { done, value } = await reader.read();
			if (done || signal.aborted) {
				return;
			}
			this.#lastBytes = Date.now();
			this.#answered = true;
			for (const frame of parser.push(decoder.decode(value, { stream: true }))) {
				this.#frame(frame);
			}
		}
	}

	#frame(frame: Frame): void {
		const data = dataOf(frame);
		if (frame.id !== undefined) {
			const now = Date.now();
			this.#positions = positionsAfter([...this.#positions, { id: frame.id, at: now }], now).slice(-mostPositions);
		}
		if (frame.name === "reset") {
			this.#host.onReset();
		} else if (frame.name === "online" || frame.name === "offline") {
			this.#there({ state: frame.name === "online" ? "live" : "polling" });
		} else if (frame.name !== "end" && data) {
			this.#host.onEvent({ name: frame.name, data });
		}
	}

	// The stream continues from here on. After a failure it may be that of another server.
	#there(state: StreamState): void {
		const reconnected = this.#failures > 0;
		this.#failures = 0;
		if (this.#missed || this.#state.state === "polling") {
			this.#host.onReset();
		}
		this.#missed = false;
		if (this.#state.state !== state.state) {
			this.#tell(state);
		}
		if (reconnected) {
			this.#host.onReconnect();
		}
	}
}
