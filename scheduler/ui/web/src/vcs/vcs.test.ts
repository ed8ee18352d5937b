// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstLine } from "../core/format.ts";
import type { Resource } from "../core/resource.ts";
import { commitFrom, refWords, shortSha } from "./commit.ts";

const sha = "0123456789abcdef0123456789abcdef01234567";

function ingress(attributes: Record<string, unknown>): Resource {
	return { type: "ingress-attributes", id: "ia-1", attributes: { "commit-sha": sha, ...attributes } };
}

test("a commit names its branch, tag or pull request", () => {
	const refOf = (attributes: Record<string, unknown>) => commitFrom(ingress(attributes))?.ref;
	assert.deepEqual(refOf({ branch: "main" }), { kind: "branch", name: "main", href: "" });
	assert.deepEqual(refOf({ branch: "main", tag: "v1" }), { kind: "tag", name: "v1", href: "" });
	const pull = { "is-pull-request": true, "pull-request-number": 3, "pull-request-url": "https://git.example/3", branch: "main" };
	assert.deepEqual(refOf(pull), { kind: "pull request", name: "#3", href: "https://git.example/3" });
	assert.equal(refOf({ branch: "", tag: null, "pull-request-number": null }), undefined);
	assert.equal(refWords({ kind: "tag", name: "v1", href: "" }), "tag v1");
});

test("a configuration without a commit has none, and missing texts are empty", () => {
	assert.equal(commitFrom(undefined), undefined);
	assert.equal(commitFrom(ingress({ "commit-sha": null })), undefined);
	const bare = commitFrom(ingress({ "commit-message": 7, "commit-url": null }));
	assert.deepEqual([bare?.message, bare?.href, bare?.sender], ["", "", ""]);
});

test("the subject is the first line of the message", () => {
	assert.equal(commitFrom(ingress({ "commit-message": "\n  Fix it\r\n\r\nLong text\n" }))?.subject, "Fix it");
	assert.equal(firstLine("a\u2028b"), "a");
	assert.equal(firstLine(""), "");
	assert.equal(shortSha(sha), "0123456");
});
