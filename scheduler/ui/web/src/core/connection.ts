// SPDX-License-Identifier: MPL-2.0
// Whether the server answers. The shell shows it, and live.ts waits while it does not.

export type Connection =
	| { readonly state: "live" }
	| { readonly state: "reconnecting"; readonly at: number } // the time of the next attempt
	| { readonly state: "offline"; readonly since: number }; // the time of the last answer

const firstWait = 1000;
const longestWait = 30_000;

let connection: Connection = { state: "live" };
let lastAnswer = Date.now();
let failures = 0;
const listeners = new Set<() => void>();

function set(next: Connection): void {
	const same = next.state === connection.state && next.state === "live";
	connection = next;
	if (!same) {
		for (const listener of listeners) {
			listener();
		}
	}
}

// waitAfter: milliseconds before the next attempt. They double, and differ between browsers.
export function waitAfter(failed: number, random: number): number {
	const wait = Math.min(firstWait * 2 ** Math.max(failed - 1, 0), longestWait);
	return wait / 2 + (wait / 2) * random;
}

export function answerReceived(status: number): void {
	if (status >= 500 && status !== 501) {
		requestFailed();
		return;
	}
	lastAnswer = Date.now();
	failures = 0;
	set({ state: "live" });
}

export function requestFailed(): void {
	failures += 1;
	const wait = waitAfter(failures, Math.random());
	set(navigator.onLine ? { state: "reconnecting", at: Date.now() + wait } : { state: "offline", since: lastAnswer });
}

export function connectionNow(): Connection {
	return connection;
}

export function onConnection(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}
