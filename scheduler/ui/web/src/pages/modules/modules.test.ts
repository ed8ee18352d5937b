// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { descriptionOf, usesOf } from "./description.ts";
import { isChanging, latestOf, publishedOf, setupOf, usageOf, versionsOf } from "./module_words.ts";
import { messagesOf, resultsOf, testHasEnded, testLook } from "./test_words.ts";

function module(attributes: Record<string, unknown>) {
	return {
		type: "registry-modules",
		id: "mod-1",
		attributes: { name: "network", namespace: "acme", provider: "aws", "registry-name": "private", ...attributes },
	};
}

function version(name: string, more: Record<string, unknown> = {}) {
	return { version: name, status: "ok", error: "", deprecation: null, revoked: false, ...more };
}

test("versions say what can be used, and why not", () => {
	const deprecation = { reason: "It is old.", link: "https://example.com" };
	const shown = versionsOf(
		module({
			"version-statuses": [
				version("2.0.0", { status: "clone_failed", error: "It is too large." }),
				version("1.2.0", { deprecation, revoked: true }),
				version("1.1.0", { deprecation }),
				version("1.0.2", { status: "reg_ingressing", "test-run": "trun-1", "tests-failed": false }),
				version("1.0.1", { status: "reg_ingress_failed", error: "The tests did not pass.", "tests-failed": true }),
				version("1.0.0", { error: "The tag was moved." }),
			],
		}),
	);
	assert.deepEqual(
		shown.map(({ word, note }) => [word, note]),
		[
			["Fetch failed", "It is too large."],
			["Revoked", "It is old."],
			["Deprecated", "It is old."],
			["Waiting for its tests", ""],
			["Tests failed", "The tests did not pass."],
			["Usable", "The tag was moved."],
		],
	);
	assert.equal(latestOf(shown), "1.0.0");
});

test("the latest version is no prerelease if there is another one", () => {
	const latest = (...names: string[]) => latestOf(versionsOf(module({ "version-statuses": names.map((name) => version(name)) })));
	assert.equal(latest("2.0.0-rc.1", "1.0.0+build-1"), "1.0.0+build-1");
	assert.equal(latest("2.0.0-rc.1"), "2.0.0-rc.1");
	assert.equal(latest(), "");
});

test("a module changes while a version is on its way, or before the first look at its tags", () => {
	const statuses = (status: string) => ({ "version-statuses": [version("1.0.0", { status })] });
	assert.deepEqual(
		["pending", "cloning", "reg_ingressing", "ok", "clone_failed"].map((status) => isChanging(module(statuses(status)))),
		[true, true, true, false, false],
	);
	const tags = (status: string) => isChanging(module({ status, "publishing-mechanism": "git_tag" }));
	assert.deepEqual(["pending", "no_version_tags", "setup_failed"].map(tags), [true, false, false]);
	assert.ok(!isChanging(module({ status: "pending" })));
});

test("the usage names the registry's host but for public modules", () => {
	assert.equal(
		usageOf(module({}), "runyard.example.com", "1.0.0"),
		'module "network" {\n  source  = "runyard.example.com/acme/network/aws"\n  version = "1.0.0"\n}',
	);
	assert.equal(
		usageOf(module({ "registry-name": "public" }), "runyard.example.com", ""),
		'module "network" {\n  source  = "acme/network/aws"\n}',
	);
	assert.deepEqual(setupOf(module({ status: "no_version_tags" })), ["wait", "No version tags"]);
});

test("a module says how it is published", () => {
	const repo = { identifier: "acme/terraform-aws-network", branch: "main" };
	assert.equal(publishedOf(module({})), "By upload");
	assert.equal(publishedOf(module({ "publishing-mechanism": "git_tag", "vcs-repo": repo })), "From the tags of acme/terraform-aws-network");
	assert.equal(
		publishedOf(module({ "publishing-mechanism": "branch", "vcs-repo": repo })),
		"From the branch main of acme/terraform-aws-network",
	);
	const part = { ...repo, "source-directory": "modules/dns", "tag-prefix": "dns-" };
	assert.equal(
		publishedOf(module({ "publishing-mechanism": "git_tag", "vcs-repo": part })),
		"From the tags dns-* of the folder modules/dns of acme/terraform-aws-network",
	);
	assert.equal(publishedOf(module({ "publishing-mechanism": "branch", "vcs-repo": null })), "From a branch of a repository");
});

test("a description of any shape is read", () => {
	const attributes = {
		root: {
			readme: "# A",
			inputs: [
				{ name: "b", type: "", default: "1", required: false },
				{ name: "key", required: false, sensitive: true },
				{ name: "a", type: "string", required: true },
				7,
			],
			outputs: [{ name: "o", sensitive: true }],
			resources: [
				{ type: "t", name: "n", mode: "managed" },
				{ type: "t", name: "n", mode: "data" },
			],
		},
		submodules: [{ path: "modules/x" }],
		examples: "nonsense",
	};
	const described = descriptionOf({ type: "registry-module-descriptions", id: "modver-1", attributes });
	assert.deepEqual(
		described.root.inputs.map((input) => [input.name, input.type, input.default, input.required]),
		[
			["a", "string", "", true],
			["b", "any", "1", false],
			["key", "any", "(sensitive)", false],
			["", "any", "", false],
		],
	);
	assert.deepEqual(
		described.root.resources.map(({ address }) => address),
		["t.n", "data.t.n"],
	);
	assert.deepEqual([described.submodules.map(({ path }) => path), described.examples, described.cut], [["modules/x"], [], false]);
});

test("the uses of a module are those of its address and its parts", () => {
	const row = (source: string, version: string) => ({
		type: "visibility-module-version",
		id: `${source} ${version}`,
		attributes: { source, version, workspaces: "one, two", "workspace-count": 2 },
	});
	const address = "runyard.example.com/acme/network/aws";
	const uses = usesOf([row(address, "1.0.0"), row(`${address}//modules/x`, "1.0.0"), row(`${address}2`, "1.0.0")], address);
	assert.deepEqual(
		uses.map(({ part, version, count }) => [part, version, count]),
		[
			["", "1.0.0", 2],
			["modules/x", "1.0.0", 2],
		],
	);
});

test("test runs say what they came to, and their logs are shown by message", () => {
	const run = (attributes: Record<string, unknown>) => ({ type: "test-runs", id: "trun-1", attributes });
	const failed = run({ status: "finished", "test-status": "fail", "tests-passed": 0, "tests-failed": 2, "tests-skipped": 1 });
	assert.deepEqual(
		[testLook(failed), resultsOf(failed), testHasEnded(failed)],
		[["failure", "Failed"], "0 passed, 2 failed, 1 skipped", true],
	);
	const waiting = run({ status: "queued", "test-status": null, "tests-passed": null });
	assert.deepEqual([testLook(waiting), resultsOf(waiting), testHasEnded(waiting)], [["muted", "Queued"], "", false]);
	assert.equal(messagesOf('\u0002plain\n{"@message":"ok... pass","type":"test_run"}\n{broken\u0003'), "plain\nok... pass\n{broken");
});
