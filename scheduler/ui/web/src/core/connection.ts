// SPDX-License-Identifier: MPL-2.0
// Whether the server answers and events come. The shell shows it, and live.ts waits while the server does not answer.

import type { StreamState } from "../stream/messages.ts";
import { Listeners } from "./listeners.ts";

export type Connection =
	| { readonly state: "connecting" }
	| { readonly state: "live" }
	| { readonly state: "polling" } // the server answers, but no events come
	| { readonly state: "reconnecting"; readonly at: number } // the time of the next attempt
	| { readonly state: "offline"; readonly since: number }; // the time of the last answer

const firstWait = 1000;
const longestWait = 30_000;
const calmMs = 60_000; // without a failure: the next one begins with the first wait

let stream: StreamState = { state: "connecting" };
let nextRequest: number | undefined; // after a request without an answer
let lastAnswer = Date.now();
let failures = 0;
let failedAt = 0;
const listeners = new Listeners();

// waitAfter: milliseconds before the next attempt. They double, and differ between browsers.
export function waitAfter(failed: number, random: number): number {
	const wait = Math.min(firstWait * 2 ** Math.max(failed - 1, 0), longestWait);
	return wait / 2 + (wait / 2) * random;
}

// An answer before the next attempt may be that of another request of the same time.
export function answerReceived(status: number): void {
	if (status >= 500 && status !== 501) {
		requestFailed();
		return;
	}
	lastAnswer = Date.now();
	if (nextRequest !== undefined && lastAnswer >= nextRequest) {
		nextRequest = undefined;
		listeners.tell();
	}
}

// Failures until the next attempt are those of one attempt.
export function requestFailed(): void {
	const now = Date.now();
	if (nextRequest !== undefined && now < nextRequest) {
		return;
	}
	failures = now - failedAt > calmMs ? 1 : failures + 1;
	failedAt = now;
	nextRequest = now + waitAfter(failures, Math.random());
	listeners.tell();
}

// requestNow: the next attempt need not wait, since the page is online again or was asleep.
export function requestNow(): void {
	if (nextRequest !== undefined) {
		nextRequest = Date.now();
	}
}

// requestWait: milliseconds until the next request should be made; undefined: the last one was answered.
export function requestWait(): number | undefined {
	return nextRequest === undefined ? undefined : Math.max(nextRequest - Date.now(), 0);
}

export function streamChanged(state: StreamState): void {
	stream = state;
	listeners.tell();
}

export function connectionNow(): Connection {
	if (!navigator.onLine) {
		return { state: "offline", since: lastAnswer };
	}
	if (stream.state === "reconnecting") {
		return stream;
	}
	return nextRequest === undefined ? stream : { state: "reconnecting", at: nextRequest };
}

export const isAway = (connection: Connection) => connection.state === "reconnecting" || connection.state === "offline";

export function onConnection(listener: () => void): () => void {
	const stop = listeners.listen(listener);
	addEventListener("online", listener);
	addEventListener("offline", listener);
	return () => {
		stop();
		removeEventListener("online", listener);
		removeEventListener("offline", listener);
	};
}
