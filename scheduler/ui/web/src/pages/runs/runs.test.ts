// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { needsMe, needWord } from "./needs.ts";
import { runFilter, sourceWord, statusOptions } from "./query.ts";

const filter = (query: string) => runFilter(new URLSearchParams(query));

test("lists name all operations, so that plan-only runs are in them", () => {
	assert.match(String(filter("")["filter[operation]"]), /plan_only/);
	assert.equal(filter("operation=destroy")["filter[operation]"], "destroy");
});

test("?status= is a chip, a status group or statuses; others are ignored", () => {
	assert.equal(filter("status=final")["filter[status_group]"], "final");
	assert.equal(filter("status=stopped")["filter[status]"], "discarded,canceled,force_canceled");
	assert.equal(filter("status=errored")["filter[status]"], "errored,policy_soft_failed");
	assert.equal(filter("status=confirmed")["filter[status]"], "confirmed");
	assert.equal(filter("status=nonsense")["filter[status]"], undefined);
	assert.equal(new Set(statusOptions.map(([value]) => value)).size, statusOptions.length);
});

test("a search for a user replaces the search in all texts", () => {
	assert.deepEqual([filter("q=a+user:ada")["search[basic]"], filter("q=a+user:ada")["search[user]"]], [undefined, "ada"]);
	assert.equal(filter("q=commit:1f2e")["search[commit]"], "1f2e");
	assert.equal(filter("q=a")["search[basic]"], "a");
	assert.deepEqual([sourceWord("tfe-ui"), sourceWord("other")], ["Web UI", "other"]);
});

function run(status: string, actions: object, permissions: object): Resource {
	return { type: "runs", id: "run-1", attributes: { status, actions, permissions } };
}

test("a run needs those who may confirm, override or discard it", () => {
	const waits = { "is-confirmable": true, "is-discardable": true };
	const all = { "can-apply": true, "can-discard": true, "can-override-policy-check": true };
	assert.equal(needsMe(run("planned", waits, all)), true);
	assert.equal(needWord(run("planned", waits, all)), "Confirm or discard");
	assert.equal(needsMe(run("planned", waits, {})), false);
	assert.equal(needsMe(run("post_plan_running", { "is-discardable": true }, all)), false);
	assert.equal(needWord(run("policy_override", { "is-discardable": true }, all)), "Override or discard");
	assert.equal(needWord(run("policy_override", { "is-discardable": true }, { "can-discard": true })), "Discard");
});
