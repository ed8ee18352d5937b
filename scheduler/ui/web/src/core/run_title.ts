// SPDX-License-Identifier: MPL-2.0
// The title of a run: its message, or how it was triggered if it has only the message that the CLI or the API gives it.

import { firstLine, shortId } from "./format.ts";
import { type Resource, text } from "./resource.ts";
import { store } from "./store.ts";

const given = new Set(["", "Queued manually using Terraform", "Queued manually via the Terraform Enterprise API"]);
const triggers: Readonly<Record<string, string>> = {
	"tfe-api": "API run",
	"tfe-ui": "Run",
	terraform: "CLI run",
	"terraform+cloud": "CLI run",
};

export function runTitle(run: Resource): string {
	const message = firstLine(text(run, "message"));
	const trigger = triggers[text(run, "source")];
	if (!given.has(message) || !trigger) {
		return message || `Run ${shortId(run.id)}`;
	}
	const who = text(store.one(run, "created-by"), "username");
	const by = who ? ` by ${who}` : ` ${shortId(run.id)}`;
	return trigger + by;
}
