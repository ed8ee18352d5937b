// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { stateOf, usageOf } from "./provider_words.ts";

function resource(attributes: Record<string, unknown>) {
	return {
		type: "registry-providers",
		id: "prov-1",
		attributes: { name: "time", namespace: "acme", "registry-name": "private", ...attributes },
	};
}

test("a version says what it lacks", () => {
	const word = (attributes: Record<string, unknown>) => stateOf(resource(attributes))[1];
	assert.equal(word({}), "Not uploaded");
	assert.equal(word({ "shasums-uploaded": true }), "Not signed");
	assert.equal(word({ "shasums-uploaded": true, "signature-verified": true, "usable-platforms": [] }), "No archive");
	assert.equal(word({ "shasums-uploaded": true, "signature-verified": true, "usable-platforms": ["linux_amd64"] }), "Usable");
});

test("the usage names the registry's host but for public providers", () => {
	assert.match(
		usageOf(resource({ "latest-version": "1.0.0" }), "runyard.example.com"),
		/"runyard\.example\.com\/acme\/time"\n {6}version = "1\.0\.0"/,
	);
	assert.match(usageOf(resource({ "registry-name": "public" }), "runyard.example.com"), /source {2}= "acme\/time"\n {4}\}/);
});
