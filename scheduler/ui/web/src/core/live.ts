// SPDX-License-Identifier: MPL-2.0
// Changes on the server, by topic: org:<name>, workspace:<id>, run:<id>, log:<plan or apply id>@<offset>, site.
// It polls: each subscriber is asked to refetch what it shows, with an event of the kind `reset`.

import { connectionNow } from "./connection.ts";

export type LiveEvent = {
	readonly kind: "run" | "workspace" | "stage" | "log" | "worker" | "reset";
	readonly id?: string;
	readonly attributes?: Readonly<Record<string, unknown>>;
};

type Subscriber = { readonly topics: readonly string[]; readonly onEvent: (event: LiveEvent) => void };

const pollMs = 3000;
const subscribers = new Set<Subscriber>();
let timer: ReturnType<typeof setTimeout> | undefined;

function resetAll(): void {
	for (const subscriber of subscribers) {
		subscriber.onEvent({ kind: "reset" });
	}
}

function delay(): number {
	const connection = connectionNow();
	return connection.state === "reconnecting" ? Math.max(connection.at - Date.now(), 100) : pollMs;
}

function schedule(): void {
	if (timer !== undefined || subscribers.size === 0) {
		return;
	}
	timer = setTimeout(() => {
		timer = undefined;
		if (document.visibilityState === "visible") {
			resetAll();
		}
		schedule();
	}, delay());
}

// subscribe calls onEvent for each change of the topics, until the returned function is called.
export function subscribe(topics: readonly string[], onEvent: (event: LiveEvent) => void): () => void {
	const subscriber = { topics, onEvent };
	subscribers.add(subscriber);
	schedule();
	return () => {
		subscribers.delete(subscriber);
		if (subscribers.size === 0 && timer !== undefined) {
			clearTimeout(timer);
			timer = undefined;
		}
	};
}

// After a time in the background, what is shown is old.
if (typeof document !== "undefined") {
	document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && resetAll());
	addEventListener("online", resetAll);
}
