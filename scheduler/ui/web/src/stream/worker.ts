// SPDX-License-Identifier: MPL-2.0
// The shared worker that holds the event stream of a browser, so that all its pages use one connection.

import { sessionOf } from "../core/session.ts";
import { EventStream, logPartOf } from "./event_stream.ts";
import type { FromPage, LogPart, StreamEvent, ToPage } from "./messages.ts";
import { concerns, TopicSet } from "./topics.ts";

type Port = {
	onmessage: ((message: MessageEvent) => void) | null;
	postMessage(message: ToPage): void;
	close(): void;
};

const settleMs = 20; // a page that changes its topics sends them at once, but pages load together
const checkMs = 5000;
const silentMs = 300_000; // browsers run timers of hidden pages once a minute

const recentMs = 3000;
const mostRecent = 64;

const topics = new TopicSet<Port>();
const heard = new Map<Port, number>();
let recent: { readonly at: number; readonly event: StreamEvent }[] = []; // without logs
let settling = false;
let checked = Date.now();

function all(message: ToPage): void {
	for (const port of topics.pages()) {
		port.postMessage(message);
	}
}

const eventOf = (part: LogPart): StreamEvent => ({ name: "log", data: part });

function sendEvent(event: StreamEvent): void {
	const part = event.name === "log" ? logPartOf(event.data) : undefined;
	const sent = part ? eventOf(part) : event;
	for (const port of topics.receivers(sent)) {
		port.postMessage({ kind: "event", ...sent });
	}
	if (part) {
		topics.received(part);
	} else {
		recent = [...recent, { at: Date.now(), event }].slice(-mostRecent);
	}
}

// The page may have read its objects before these events, and its topics arrive after them.
function sendRecent(port: Port, added: readonly string[]): void {
	const since = Date.now() - recentMs;
	for (const { at, event } of recent) {
		if (at >= since && added.some((topic) => concerns(topic, event))) {
			port.postMessage({ kind: "event", ...event });
		}
	}
}

// The page of the web UI has the build of the server, and needs a session.
async function serverCheck(): Promise<void> {
	try {
		const answer = await fetch("/app", { headers: { Accept: "text/html" }, redirect: "manual", cache: "no-store" });
		if (answer.type === "opaqueredirect") {
			all({ kind: "signed-out" });
		} else if (answer.ok) {
			all({ kind: "build", build: sessionOf(await answer.text()).build });
		}
	} catch {} // the stream tries again
}

const stream = new EventStream({
	topics: () => topics.list(),
	onEvent: sendEvent,
	onReset: () => all({ kind: "reset" }),
	onState: (is) => all({ kind: "state", is }),
	onReconnect: () => void serverCheck(),
	onSignedOut: () => all({ kind: "signed-out" }),
});

function settle(): void {
	if (settling) {
		return;
	}
	settling = true;
	setTimeout(() => {
		settling = false;
		stream.update();
		all({ kind: "polled", topics: topics.left() });
	}, settleMs);
}

function topicsPut(port: Port, wanted: readonly string[], wake: boolean): void {
	const isNew = !topics.has(port);
	const added = topics.added(port, wanted);
	heard.set(port, Date.now());
	const behind = topics.put(port, wanted);
	if (isNew) {
		port.postMessage({ kind: "state", is: stream.state });
	}
	if (isNew && wake) {
		port.postMessage({ kind: "reset" }); // it was forgotten while it was asleep
	} else {
		sendRecent(port, added);
	}
	for (const part of behind) {
		port.postMessage({ kind: "event", ...eventOf(part) });
	}
	settle();
}

function pageGone(port: Port): void {
	topics.delete(port);
	heard.delete(port);
	settle();
}

function received(port: Port, message: FromPage): void {
	if (message.kind === "leave") {
		pageGone(port);
		return;
	}
	topicsPut(port, message.topics, message.wake);
	if (message.wake) {
		stream.wake();
	}
}

setInterval(() => {
	const now = Date.now();
	if (now - checked > 4 * checkMs) {
		stream.wake(); // the machine was asleep
	} else {
		stream.check();
	}
	checked = now;
	for (const [port, at] of heard) {
		if (now - at > silentMs) {
			pageGone(port);
		}
	}
}, checkMs);

addEventListener("connect", (event) => {
	const [port] = (event as MessageEvent).ports as unknown as readonly Port[];
	if (port) {
		port.onmessage = ({ data }) => received(port, data as FromPage);
	}
});
