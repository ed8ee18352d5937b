// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../core/errors.ts";
import { problemOf } from "../workspaces/bulk_send.ts";
import { explorerActions, missingReason, toggledTargets } from "./bulk_actions.ts";

const target = (id: string) => ({ id, name: `name-${id}` });

test("a selection has each workspace once, and loses what is taken out", () => {
	const chosen = toggledTargets([target("a"), target("b")], [target("b"), target("c")], true);
	assert.deepEqual(
		chosen.map(({ id }) => id),
		["a", "b", "c"],
	);
	assert.deepEqual(toggledTargets(chosen, [target("a"), target("x")], false), [target("b"), target("c")]);
});

test("an action names the field that it lacks", () => {
	const tag = explorerActions.find(({ word }) => word === "Tag");
	assert.ok(tag);
	assert.equal(missingReason(tag.fields, { key: " " }), "it needs a key");
	assert.equal(missingReason(tag.fields, { key: "team" }), undefined);
});

test("a problem names the workspace, also without the right to see why", () => {
	const locked = new ApiError(409, [{ title: "conflict", detail: "workspace already locked", pointer: "" }]);
	assert.equal(problemOf(target("a"), locked).detail, "name-a: workspace already locked");
	assert.equal(problemOf(target("a"), new ApiError(404, [])).detail, "name-a: you may not do this here, or it is gone");
});
