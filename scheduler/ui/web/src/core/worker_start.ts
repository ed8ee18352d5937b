// SPDX-License-Identifier: MPL-2.0
// Starts the shared worker of the event stream. The page's security policy wants Trusted Types for its address.

// The build's address of the worker (tools/bundle.mjs).
declare const EVENT_WORKER: string;

type Policy = { readonly createScriptURL: (url: string) => string };
type Factory = { readonly createPolicy: (name: string, rules: Policy) => Policy };

let policy: Policy | undefined; // may be made once

function trusted(url: string): string {
	const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
	policy ??= factory?.createPolicy("runyard", { createScriptURL: () => EVENT_WORKER });
	return policy?.createScriptURL(url) ?? url;
}

// eventWorkerStart: undefined if the browser has no shared workers. Each user has a worker of their own.
export function eventWorkerStart(user: string): SharedWorker | undefined {
	try {
		return typeof SharedWorker === "undefined" ? undefined : new SharedWorker(trusted(EVENT_WORKER), { name: `events ${user}` });
	} catch {
		return undefined;
	}
}
