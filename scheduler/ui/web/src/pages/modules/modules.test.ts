// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { latestOf, setupOf, usageOf, versionsOf } from "./module_words.ts";

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
