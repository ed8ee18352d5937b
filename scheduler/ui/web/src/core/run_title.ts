// SPDX-License-Identifier: MPL-2.0
// The title of a run: its message. The CLI of terraform sends the same message with each run, which says nothing.

import { shortId } from "./format.ts";
import { type Resource, text } from "./resource.ts";
import { store } from "./store.ts";

const sentByCli = "Queued manually using Terraform";

export function runTitle(run: Resource): string {
	const message = text(run, "message");
	if (message && message !== sentByCli) {
		return message;
	}
	const who = text(store.one(run, "created-by"), "username");
	const by = who && ` by ${who}`;
	return text(run, "source").startsWith("terraform") ? `CLI run${by}` : `Run ${shortId(run.id)}${by}`;
}
