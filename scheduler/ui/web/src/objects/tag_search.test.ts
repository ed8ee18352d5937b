// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { searchParts, tagFilters, tagHref, tagWord } from "./tag_search.ts";

test("a search has tags and other words", () => {
	assert.deepEqual(searchParts("net tag:env=prod tag:eu work"), {
		words: "net work",
		tags: [
			{ key: "env", value: "prod" },
			{ key: "eu", value: "" },
		],
	});
	assert.deepEqual(searchParts('tag:"my team"="a=b c" tag:a:b/c=x=y'), {
		words: "",
		tags: [
			{ key: "my team", value: "a=b c" },
			{ key: "a:b/c", value: "x=y" },
		],
	});
	assert.deepEqual(searchParts(""), { words: "", tags: [] });
});

test("a search that is being typed finds nothing too early", () => {
	for (const typed of ["tag:", "tag:=", 'tag:"']) {
		assert.deepEqual(searchParts(typed), { words: "", tags: [] }, typed);
	}
	assert.deepEqual(searchParts('tag:"my te').tags, [{ key: "my te", value: "" }]);
	assert.deepEqual(searchParts("tag:env=").tags, [{ key: "env", value: "" }]);
	assert.deepEqual(searchParts("vintage:env"), { words: "vintage:env", tags: [] });
});

test("the word of a tag searches that tag", () => {
	for (const tag of [
		{ key: "env", value: "" },
		{ key: "env", value: "prod" },
		{ key: "a=b", value: "" },
		{ key: "tag:x y", value: "=" },
		{ key: "a", value: "b c=d" },
		{ key: "=", value: " " },
	]) {
		assert.deepEqual(searchParts(tagWord(tag)), { words: "", tags: [tag] });
	}
	assert.equal(tagHref("/app/acme/modules", { key: "a b", value: "c" }), "/app/acme/modules?q=tag%3A%22a%20b%22%3Dc");
});

test("tags are the numbered filters of the API", () => {
	assert.deepEqual(
		tagFilters([
			{ key: "env", value: "prod" },
			{ key: "eu", value: "" },
		]),
		{
			"filter[tagged][0][key]": "env",
			"filter[tagged][0][value]": "prod",
			"filter[tagged][1][key]": "eu",
			"filter[tagged][1][value]": "",
		},
	);
});
