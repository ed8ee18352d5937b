// SPDX-License-Identifier: MPL-2.0
// What pages say about a query run.

import { type Resource, text } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

type Look = { readonly tone: Tone; readonly word: string };

const looks: Readonly<Record<string, Look>> = {
	pending: { tone: "muted", word: "Pending" },
	queued: { tone: "running", word: "Waiting for a worker" },
	running: { tone: "running", word: "Running" },
	finished: { tone: "success", word: "Finished" },
	errored: { tone: "failure", word: "Errored" },
	canceled: { tone: "muted", word: "Canceled" },
};

export function queryLook(query: Resource): Look {
	const status = text(query, "status");
	return looks[status] ?? { tone: "muted", word: status };
}

export const queryHasEnded = (query: Resource) => ["finished", "errored", "canceled"].includes(text(query, "status"));

// sourceWord: what began the query. Clients of the API may write any text.
export function sourceWord(source: string): string {
	return { "tfe-api": "API or CLI", "tfe-ui": "Web UI" }[source] ?? source;
}
