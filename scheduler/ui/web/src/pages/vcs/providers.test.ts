// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Values } from "../../objects/fields.ts";
import { bodyOf, fieldsOf, firstValues, providers, valueSet } from "./providers.ts";

const names = (values: Values) => fieldsOf(values).map((field) => field.name);
const choose = (name: string) => valueSet(firstValues, "service-provider", name);

test("a provider shows only the fields that it needs", () => {
	assert.deepEqual(names(firstValues), ["service-provider"]);
	assert.deepEqual(names(choose("github")), ["service-provider", "name", "how", "oauth-token-string", "organization-scoped"]);
	assert.deepEqual(names(choose("git")), ["service-provider", "name", "http-url", "key", "oauth-token-string", "organization-scoped"]);
	assert.deepEqual(names({ ...choose("gitea"), how: "oauth" }), [
		"service-provider",
		"name",
		"http-url",
		"api-url",
		"how",
		"key",
		"secret",
		"organization-scoped",
	]);
	for (const { name } of providers) {
		const shown = names(choose(name));
		assert.equal(new Set(shown).size, shown.length, name);
	}
});

test("a hosted provider has its addresses, and a server's API follows its address until it is changed", () => {
	assert.deepEqual(bodyOf({ ...choose("github"), "oauth-token-string": "t" }), {
		"service-provider": "github",
		"http-url": "https://github.com",
		"api-url": "https://api.github.com",
		"oauth-token-string": "t",
		"organization-scoped": true,
	});
	let values = valueSet(choose("gitea"), "http-url", "https://git.example/");
	assert.equal(values["api-url"], "https://git.example/api/v1");
	values = valueSet(values, "api-url", "https://api.example/v1");
	values = valueSet(values, "http-url", "https://git.example/sub/");
	const body = bodyOf(values);
	assert.deepEqual([body["http-url"], body["api-url"]], ["https://git.example/sub", "https://api.example/v1"]);
	assert.equal(bodyOf(valueSet(choose("git"), "http-url", "ssh://git@git.example"))["api-url"], "ssh://git@git.example");
});

test("another provider forgets the addresses and the way to sign in of the first", () => {
	const values = valueSet({ ...choose("github"), how: "oauth", key: "id" }, "service-provider", "gitlab_hosted");
	assert.deepEqual([values["http-url"], values.how], ["https://gitlab.com", "token"]);
	assert.ok(!("key" in bodyOf(values)));
	assert.ok(!("how" in bodyOf(values)));
});
