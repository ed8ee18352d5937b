// SPDX-License-Identifier: MPL-2.0
// Changes on the server, by topic: org:<name>, workspace:<id>, run:<id>, log:<plan or apply id>@<offset>, site. One stream
// serves all pages of the browser (stream/worker.ts). While no events come, subscribers get an event of the kind
// `reset` every 3 s, and refetch.

import type { FromPage, StreamEvent, ToPage } from "../stream/messages.ts";
import { concerns, keyOf } from "../stream/topics.ts";
import { ping } from "./api.ts";
import { coalesced } from "./coalesce.ts";
import { onConnection, requestNow, requestWait, streamChanged, waitAfter } from "./connection.ts";
import { Listeners } from "./listeners.ts";
import { serverBuildIs, session, sessionCheck } from "./session.ts";
import { eventWorkerStart } from "./worker_start.ts";

export type LiveEvent = {
	readonly kind: "run" | "workspace" | "stage" | "log" | "worker" | "denied" | "reset";
	readonly id?: string;
	readonly attributes?: Readonly<Record<string, unknown>>;
};

type Subscriber = { readonly topics: readonly string[]; readonly put: (event: LiveEvent) => void };

const pollMs = 3000;
const firstMs = 50; // between two events of a subscriber; doubles while they come
const shownMs = 1600;
const hiddenMs = 3200;
const hereMs = 30_000;
const answerMs = 5000; // of the worker

const subscribers = new Set<Subscriber>();
let port: MessagePort | undefined;
let polls = false; // no events come
let polledTopics: readonly string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let sending = false;
const catchUps = new Listeners();

// ---- polling ----

// Pages may show old objects: they read them again.
function resetAll(): void {
	catchUps.tell();
	for (const subscriber of subscribers) {
		subscriber.put({ kind: "reset" });
	}
}

const isHidden = () => document.visibilityState !== "visible";

const isPolled = (subscriber: Subscriber) => polls || subscriber.topics.some((topic) => polledTopics.includes(keyOf(topic)));

// While the server does not answer, one small request tries again.
async function pollOnce(): Promise<void> {
	timer = undefined;
	if (isHidden()) {
		return;
	}
	if (requestWait() !== undefined) {
		await ping();
	} else {
		for (const subscriber of [...subscribers].filter(isPolled)) {
			subscriber.put({ kind: "reset" });
		}
	}
	poll();
}

// Hidden pages do not poll (awake).
function poll(): void {
	const due = requestWait() ?? ([...subscribers].some(isPolled) ? pollMs : undefined);
	if (timer === undefined && due !== undefined && !isHidden()) {
		timer = setTimeout(pollOnce, due);
	}
}

let failing = false; // the last request had no answer

function connectionChanged(): void {
	const failed = failing;
	failing = requestWait() !== undefined;
	if (failed && !failing) {
		resetAll();
	}
	poll();
}

function pollFromNow(): void {
	polls = true;
	streamChanged({ state: "polling" });
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
	if (isHidden()) {
		return;
	}
	if (port) {
		topicsSend(true);
	}
	if (requestWait() !== undefined) {
		requestNow();
		clearTimeout(timer);
		void pollOnce();
	} else if (polls) {
		resetAll();
	}
	poll();
}

// ---- the worker ----

let heard = true; // the worker has answered the last message
let workerFailures = 0;

// Its file could not be loaded, or its process has ended.
function workerFailed(): void {
	port = undefined;
	pollFromNow();
	void sessionCheck(); // which compares the builds
	workerFailures += 1;
	setTimeout(workerStart, waitAfter(workerFailures, Math.random()));
}

function workerStart(): void {
	const worker = eventWorkerStart(session().userId);
	if (!worker) {
		pollFromNow();
		return;
	}
	worker.onerror = workerFailed;
	port = worker.port;
	polls = true; // until it says otherwise
	heard = false;
	setTimeout(() => heard || pollFromNow(), answerMs);
	port.onmessage = ({ data }) => {
		heard = true;
		(on[(data as ToPage).kind] as (message: ToPage) => void)(data as ToPage);
	};
	topicsSend();
}

function hereSend(): void {
	if (port) {
		const lost = !heard;
		heard = false;
		lost ? workerFailed() : topicsSend();
	}
}

let started = false;
let watching = false;

function watchOnce(): void {
	if (!watching) {
		watching = true;
		onConnection(connectionChanged);
		document.addEventListener("visibilitychange", awake);
		addEventListener("online", awake);
		addEventListener("pageshow", (event) => event.persisted && awake());
	}
}

// liveStart: once the first page has subscribed.
export function liveStart(): void {
	if (!started) {
		started = true;
		watchOnce();
		workerStart();
		setInterval(hereSend, hereMs);
		addEventListener("pagehide", () => post({ kind: "leave" }));
	}
}

// onCatchUp calls the listener when what is shown may be old: after a reconnection, a sleep, or missing events.
export function onCatchUp(listener: () => void): () => void {
	watchOnce();
	return catchUps.listen(listener);
}

// subscribeAll calls onEvent for each event of the topics, until the returned function is called.
export function subscribeAll(topics: readonly string[], onEvent: (event: LiveEvent) => void): () => void {
	const subscriber = { topics, put: onEvent };
	subscribers.add(subscriber);
	topicsChanged();
	return () => {
		subscribers.delete(subscriber);
		topicsChanged();
	};
}

// subscribe calls onEvent after changes of the topics: at once, and then with the last of the events that came meanwhile.
export function subscribe(topics: readonly string[], onEvent: (event: LiveEvent) => void): () => void {
	const events = coalesced(onEvent, (busy) => (isHidden() ? hiddenMs : Math.min(firstMs * 2 ** busy, shownMs)));
	const end = subscribeAll(topics, events.put);
	return () => {
		events.stop();
		end();
	};
}
