// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "../../core/resource.ts";
import { attributesOf, isConnected, missing, valuesOf } from "./repository_form.ts";

function workspace(attributes: Record<string, unknown>): Resource {
	return { type: "workspaces", id: "ws-1", attributes };
}

const plain = workspace({ "vcs-repo": null, "file-triggers-enabled": true, "speculative-enabled": true, "queue-all-runs": true });
const repository = {
	identifier: "acme/net",
	branch: "",
	"oauth-token-id": "ot-1",
	"github-app-installation-id": null,
	"ingress-submodules": false,
	"tags-regex": null,
};
const connected = workspace({ ...plain.attributes, "vcs-repo": repository, "trigger-prefixes": ["modules"] });

test("a new connection sends the repository, and each push starts a run", () => {
	assert.equal(isConnected(plain), false);
	const values = valuesOf(plain);
	assert.equal(values.trigger, "always");
	assert.equal(missing(values), "choose a connection");
	assert.equal(missing({ ...values, connection: "ot-1" }), "choose a repository");
	assert.deepEqual(attributesOf({ ...values, connection: "ot-1", identifier: " acme/net " }, plain), {
		"file-triggers-enabled": false,
		"vcs-repo": { "oauth-token-id": "ot-1", "github-app-installation-id": "", identifier: "acme/net" },
	});
});

test("only what changes is sent", () => {
	const values = valuesOf(connected);
	assert.deepEqual([values.trigger, values.folders], ["folders", ["modules"]]);
	assert.deepEqual(attributesOf(values, connected), {});
	assert.deepEqual(attributesOf({ ...values, branch: "next", skipDrafts: true }, connected), {
		"vcs-skip-drafts": true,
		"vcs-repo": { branch: "next" },
	});
	assert.deepEqual(attributesOf({ ...values, connection: "ghain-1" }, connected), {
		"vcs-repo": { "github-app-installation-id": "ghain-1", "oauth-token-id": "" },
	});
});

test("another trigger empties the attributes that it excludes", () => {
	const values = valuesOf(connected);
	assert.deepEqual(attributesOf({ ...values, trigger: "tags", tags: "^v" }, connected), {
		"file-triggers-enabled": false,
		"trigger-prefixes": [],
		"vcs-repo": { "tags-regex": "^v" },
	});
	assert.deepEqual(attributesOf({ ...values, trigger: "patterns", patterns: [" **/*.tf", ""] }, connected), {
		"trigger-prefixes": [],
		"trigger-patterns": ["**/*.tf"],
	});
	const tagged = workspace({ ...plain.attributes, "file-triggers-enabled": false, "vcs-repo": { ...repository, "tags-regex": "^v" } });
	assert.equal(valuesOf(tagged).trigger, "tags");
	assert.deepEqual(attributesOf({ ...valuesOf(tagged), trigger: "always" }, tagged), { "vcs-repo": { "tags-regex": "" } });
	assert.equal(missing({ ...values, trigger: "tags" }), "enter a regular expression for the tags");
	assert.equal(missing({ ...values, trigger: "patterns", patterns: [" "] }), "enter a pattern");
});
