// SPDX-License-Identifier: MPL-2.0
// What the pages and the shared worker that holds the event stream tell each other.

// An event of the stream. The data of a log's part is a LogPart.
export type StreamEvent = { readonly name: string; readonly data: Readonly<Record<string, unknown>> };

export type LogPart = { readonly id: string; readonly offset: number; readonly bytes: Uint8Array; readonly ended: boolean };

export type StreamState =
	| { readonly state: "connecting" } // for the first time
	| { readonly state: "live" }
	| { readonly state: "polling" } // no events come
	| { readonly state: "reconnecting"; readonly at: number }; // the time of the next attempt

// From a page. It repeats its topics, so the worker can forget a page that is gone.
export type FromPage =
	| { readonly kind: "topics"; readonly topics: readonly string[]; readonly wake: boolean } // wake: the page was offline or asleep
	| { readonly kind: "leave" };

export type ToPage =
	| ({ readonly kind: "event" } & StreamEvent)
	| { readonly kind: "reset" } // events are missing
	| ({ readonly kind: "state" } & { readonly is: StreamState })
	| { readonly kind: "polled"; readonly topics: readonly string[] } // topics that the stream has no room for
	| { readonly kind: "build"; readonly build: string } // of the server
	| { readonly kind: "signed-out" };
