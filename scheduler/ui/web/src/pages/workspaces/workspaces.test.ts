// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { searchOf, stableOrder } from "./list.ts";

test("rows stay where they are when only their order changes", () => {
	assert.deepEqual(stableOrder(["a", "b", "c"], ["b", "a", "c"]), { ids: ["a", "b", "c"], moved: 2 });
	assert.deepEqual(stableOrder(["a", "b"], ["a", "b", "c"]), { ids: ["a", "b", "c"], moved: 0 });
	assert.deepEqual(stableOrder([], ["b"]), { ids: ["b"], moved: 0 });
});

test("tag: words search tags, the rest is a name", () => {
	assert.deepEqual(searchOf("net tag:prod tag:eu"), { "search[name]": "net", "search[tags]": "prod,eu" });
	assert.deepEqual(searchOf(""), {});
});
