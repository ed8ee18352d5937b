// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { markBody, markFields, markingsOf } from "./marks.ts";
import { versionsOf } from "./module_words.ts";

function versionOf(more: object) {
	const statuses = [{ version: "1.0.0", status: "ok", ...more }];
	const [version] = versionsOf({ type: "registry-modules", id: "mod-1", attributes: { "version-statuses": statuses } });
	assert.ok(version);
	return version;
}

const revoked = versionOf({ deprecation: {}, revoked: true, revocation: { message: "It leaks.", link: "https://example.com/leak" } });
const deprecated = versionOf({ deprecation: { reason: "It is old." } });

test("a mark is offered for the state of a version", () => {
	assert.deepEqual(markingsOf(versionOf({})), ["deprecate"]);
	assert.deepEqual(markingsOf(versionOf({ status: "pending" })), []);
	assert.deepEqual(markingsOf(deprecated), ["revoke", "reinstate"]);
	assert.deepEqual(markingsOf(revoked), ["reinstate"]);
	assert.deepEqual([revoked.note, revoked.link], ["It leaks.", "https://example.com/leak"]);
});

test("the marks are sent with their texts", () => {
	const sent = (...given: Parameters<typeof markBody>) => markBody(...given).data.attributes;
	assert.deepEqual(sent("deprecate", { "deprecation.reason": "It is old.", "deprecation.link": "" }), {
		deprecation: { "deprecated-status": "Deprecated", reason: "It is old." },
	});
	assert.deepEqual(sent("revoke", { "revocation.message": "It leaks.", "revocation.link": "https://example.com" }), {
		revocation: { status: "Revoked", message: "It leaks.", link: "https://example.com" },
	});
	assert.deepEqual(sent("reinstate", {}), { deprecation: { "deprecated-status": "Undeprecated" }, revocation: { status: "Unrevoked" } });
	assert.deepEqual(sent("reinstate", { deprecated: true }), { revocation: { status: "Unrevoked" } });
	assert.deepEqual([markFields("reinstate", deprecated).length, markFields("reinstate", revoked).length], [0, 1]);
});
