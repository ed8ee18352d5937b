// SPDX-License-Identifier: MPL-2.0
// The topics of all pages, as one set: org:<name>, workspace:<id>, run:<id>, log:<plan or apply id>@<offset>, site.
// A topic's key is the topic without the offset.

import type { LogPart, StreamEvent } from "./messages.ts";

export const maxTopics = 32; // of one stream, by the server

const id = "[A-Za-z0-9]{16}";
const form = new RegExp(`^(?:site|org:[\\w-]{1,127}|workspace:ws-${id}|run:run-${id}|log:(?:plan|apply)-${id}@\\d{1,15})$`);
const order = ["site", "org", "workspace", "run", "log"]; // the widest first

// isTopic: the server refuses a stream with one wrong topic.
export function isTopic(topic: string): boolean {
	return form.test(topic);
}

export function keyOf(topic: string): string {
	return topic.replace(/@.*/, "");
}

function kindOf(key: string): string {
	return key.replace(/:.*/, "");
}

const isLog = (event: StreamEvent) => event.name === "log";

const concernsOf: Readonly<Record<string, (name: string, event: StreamEvent) => boolean>> = {
	site: (_, event) => !isLog(event),
	org: (_, event) => !isLog(event), // events don't name their organization
	workspace: (name, event) => !isLog(event) && (event.data.workspace === name || event.data.id === name),
	run: (name, event) => !isLog(event) && (event.data.run === name || event.data.id === name),
	log: (name, event) => isLog(event) && event.data.id === name,
};

// concerns: whether a subscriber of the topic gets the event.
export function concerns(topic: string, event: StreamEvent): boolean {
	const key = keyOf(topic);
	if (event.name === "denied") {
		return event.data.topic === key;
	}
	return concernsOf[kindOf(key)]?.(key.slice(key.indexOf(":") + 1), event) ?? false;
}

type Position = { offset: number; ended: boolean };

// The topics of pages of the type P, and how far each log was received.
export class TopicSet<P> {
	readonly #pages = new Map<P, readonly string[]>();
	readonly #logs = new Map<string, Position>();

	// put sets a page's topics. It returns what the page lacks of logs that the stream has sent further, or ended.
	put(page: P, topics: readonly string[]): LogPart[] {
		const valid = topics.filter(isTopic);
		this.#pages.set(page, valid);
		this.#forgetLogs();
		return valid.filter((topic) => kindOf(topic) === "log").flatMap((topic) => this.#behind(topic));
	}

	has(page: P): boolean {
		return this.#pages.has(page);
	}

	// The topics that the page does not have so far.
	added(page: P, topics: readonly string[]): string[] {
		const old = new Set(this.#pages.get(page)?.map(keyOf));
		return topics.filter((topic) => !old.has(keyOf(topic)));
	}

	delete(page: P): void {
		this.#pages.delete(page);
		this.#forgetLogs();
	}

	pages(): P[] {
		return [...this.#pages.keys()];
	}

	// An empty part at the stream's position: the page reads the bytes before it by itself.
	#behind(topic: string): LogPart[] {
		const key = keyOf(topic);
		const offset = Number(topic.slice(key.length + 1));
		const known = this.#logs.get(key);
		if (!known) {
			this.#logs.set(key, { offset, ended: false });
			return [];
		}
		const behind = known.ended || known.offset > offset;
		return behind ? [{ id: key.slice("log:".length), offset: known.offset, bytes: new Uint8Array(), ended: known.ended }] : [];
	}

	#forgetLogs(): void {
		const keys = new Set([...this.#pages.values()].flat().map(keyOf));
		for (const key of this.#logs.keys()) {
			if (!keys.has(key)) {
				this.#logs.delete(key);
			}
		}
	}

	received(part: LogPart): void {
		const known = this.#logs.get(`log:${part.id}`);
		if (known) {
			known.offset = Math.max(known.offset, part.offset + part.bytes.length);
			known.ended ||= part.ended;
		}
	}

	#keys(): string[] {
		const keys = new Set([...this.#pages.values()].flat().map(keyOf));
		const wanted = [...keys].filter((key) => !this.#logs.get(key)?.ended);
		return wanted.sort((a, b) => order.indexOf(kindOf(a)) - order.indexOf(kindOf(b)) || (a < b ? -1 : 1));
	}

	// The topics of the stream, each log from where it was received to.
	list(): string[] {
		return this.#keys()
			.slice(0, maxTopics)
			.map((key) => (kindOf(key) === "log" ? `${key}@${this.#logs.get(key)?.offset ?? 0}` : key));
	}

	// Topics beyond the bound of a stream.
	left(): string[] {
		return this.#keys().slice(maxTopics);
	}

	receivers(event: StreamEvent): P[] {
		return [...this.#pages].filter(([, topics]) => topics.some((topic) => concerns(topic, event))).map(([page]) => page);
	}
}
