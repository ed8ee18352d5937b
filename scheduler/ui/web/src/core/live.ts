// SPDX-License-Identifier: MPL-2.0
// Changes on the server, by topic: org:<name>, workspace:<id>, run:<id>, log:<plan or apply id>@<offset>, site. One stream
// serves all pages of the browser (stream/worker.ts). While no events come, subscribers get an event of the kind
// `reset` every 3 s, and refetch.

import type { FromPage, StreamEvent, ToPage } from "../stream/messages.ts";
import { concerns, keyOf } from "../stream/topics.ts";
import { coalesced } from "./coalesce.ts";
import { onConnection, requestWait, streamChanged } from "./connection.ts";
import { serverBuildIs, session, sessionCheck } from "./session.ts";
import { eventWorkerStart } from "./worker_start.ts";

export type LiveEvent = {
	readonly kind: "run" | "workspace" | "stage" | "log" | "worker" | "denied" | "reset";
	readonly id?: string;
	readonly attributes?: Readonly<Record<string, unknown>>;
};

type Subscriber = { readonly topics: readonly string[]; readonly put: (event: LiveEvent) => void };

const pollMs = 3000;
const shownMs = 400; // between two events of a subscriber
const hiddenMs = 2000;
const hereMs = 30_000;

const subscribers = new Set<Subscriber>();
let port: MessagePort | undefined;
let polls = false; // no events come
let polledTopics: readonly string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let sending = false;

// ---- polling ----

function resetAll(): void {
	for (const subscriber of subscribers) {
		subscriber.put({ kind: "reset" });
	}
}

const isPolled = (subscriber: Subscriber) =>
	polls || requestWait() !== undefined || subscriber.topics.some((topic) => polledTopics.includes(keyOf(topic)));

function poll(): void {
	if (timer !== undefined || ![...subscribers].some(isPolled)) {
		return;
	}
	timer = setTimeout(() => {
		timer = undefined;
		if (document.visibilityState === "visible") {
			for (const subscriber of [...subscribers].filter(isPolled)) {
				subscriber.put({ kind: "reset" });
			}
		}
		poll();
	}, requestWait() ?? pollMs);
}

function pollFromNow(): void {
	polls = true;
	poll();
}

// ---- the stream ----

function received(event: StreamEvent): void {
	const id = event.data.id;
	const live = { kind: event.name as LiveEvent["kind"], ...(typeof id === "string" && { id }), attributes: event.data };
	for (const subscriber of subscribers) {
		if (subscriber.topics.some((topic) => concerns(topic, event))) {
			subscriber.put(live);
		}
	}
}

// The worker's messages, by kind.
const on: { readonly [K in ToPage["kind"]]: (message: Extract<ToPage, { kind: K }>) => void } = {
	event: (message) => received(message),
	reset: resetAll,
	state: ({ is }) => {
		polls = is.state !== "live";
		streamChanged(is);
		poll();
	},
	polled: ({ topics }) => {
		polledTopics = topics;
		poll();
	},
	build: ({ build }) => serverBuildIs(build),
	"signed-out": () => void sessionCheck(),
};

function post(message: FromPage): void {
	port?.postMessage(message);
}

function topicsSend(wake = false): void {
	post({ kind: "topics", topics: [...new Set([...subscribers].flatMap((subscriber) => subscriber.topics))], wake });
}

// The subscriptions of a page change together.
function topicsChanged(): void {
	if (!sending) {
		sending = true;
		queueMicrotask(() => {
			sending = false;
			topicsSend();
			poll();
		});
	}
}

function awake(): void {
	if (document.visibilityState !== "visible") {
		return;
	}
	if (port) {
		topicsSend(true);
	}
	if (polls) {
		resetAll();
	}
}

function start(): void {
	const worker = eventWorkerStart(session().userId);
	if (!worker) {
		streamChanged({ state: "polling" });
		pollFromNow();
		return;
	}
	worker.onerror = pollFromNow;
	port = worker.port;
	port.onmessage = ({ data }) => (on[(data as ToPage).kind] as (message: ToPage) => void)(data as ToPage);
	setInterval(() => subscribers.size > 0 && topicsSend(), hereMs);
	addEventListener("pagehide", () => post({ kind: "leave" }));
	addEventListener("pageshow", (event) => event.persisted && awake());
}

let started = false;

function startOnce(): void {
	if (!started) {
		started = true;
		start();
		onConnection(poll);
		document.addEventListener("visibilitychange", awake);
		addEventListener("online", awake);
	}
}

// subscribeAll calls onEvent for each event of the topics, until the returned function is called.
export function subscribeAll(topics: readonly string[], onEvent: (event: LiveEvent) => void): () => void {
	const subscriber = { topics, put: onEvent };
	startOnce();
	subscribers.add(subscriber);
	topicsChanged();
	return () => {
		subscribers.delete(subscriber);
		topicsChanged();
	};
}

// subscribe calls onEvent after changes of the topics: at once, and then with the last of the events that came meanwhile.
export function subscribe(topics: readonly string[], onEvent: (event: LiveEvent) => void): () => void {
	const events = coalesced(onEvent, () => (document.visibilityState === "visible" ? shownMs : hiddenMs));
	const end = subscribeAll(topics, events.put);
	return () => {
		events.stop();
		end();
	};
}
