// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
	addressFields,
	commitField,
	fileReason,
	isVersion,
	missingOf,
	partFields,
	partsOf,
	repositoryBody,
	versionBody,
	versionField,
} from "./publish_form.ts";

test("the name of a repository gives name and provider", () => {
	assert.deepEqual(partsOf("acme/terraform-aws-network"), { name: "network", provider: "aws" });
	assert.deepEqual(partsOf(" group/sub/terraform-aws-my-network.git "), { name: "my-network", provider: "aws" });
	for (const identifier of ["", "acme/network", "acme/terraform-aws", "acme/terraform--network", "terraform-aws-x/other"]) {
		assert.equal(partsOf(identifier), undefined, identifier);
	}
});

test("a module of tags or of a branch is asked for", () => {
	const source = { connection: "ot-1", identifier: " acme/terraform-aws-network ", name: "network", provider: "aws" };
	const of = { "oauth-token-id": "ot-1", "github-app-installation-id": "", identifier: "acme/terraform-aws-network" };
	const rest = { branch: "main", "initial-version": "1.0.0", "tag-prefix": "app-" };
	assert.deepEqual(repositoryBody({ ...source, ...rest, way: "tags" }).data.attributes, {
		name: "network",
		provider: "aws",
		"vcs-repo": { ...of, tags: true, "tag-prefix": "app-" },
	});
	assert.deepEqual(repositoryBody({ ...source, ...rest, way: "branch", "source-directory": " modules/a " }).data.attributes, {
		name: "network",
		provider: "aws",
		"initial-version": "1.0.0",
		"vcs-repo": { ...of, tags: false, branch: "main", "source-directory": "modules/a" },
	});
	const app = repositoryBody({ connection: "ghain-1", identifier: "a/b", way: "tags" }).data.attributes;
	assert.deepEqual(app, { "vcs-repo": { "github-app-installation-id": "ghain-1", "oauth-token-id": "", identifier: "a/b", tags: true } });
});

test("what is missing is said, of shown fields only", () => {
	const named = { name: "network", provider: "aws" };
	assert.equal(missingOf(partFields, { ...named, way: "tags" }), undefined);
	assert.equal(missingOf(partFields, { ...named, way: "branch", branch: " " }), "enter the branch");
	assert.equal(missingOf(partFields, { ...named, name: "", way: "tags" }), "enter the name of the module");
	assert.equal(missingOf([...addressFields, versionField], named), "enter a version");
	assert.equal(fileReason(undefined), "choose the files");
	assert.equal(fileReason({ size: 1 }), undefined);
	assert.equal(fileReason({ size: 2 ** 30 }), "the archive has more than 100 MiB");
});

test("versions are semantic ones", () => {
	for (const version of ["0.0.0", "1.2.3-beta.1", "1.2.3+build-1", "1.2.3-rc+1"]) {
		assert.ok(isVersion(version), version);
	}
	for (const version of ["", "1", "1.2", "v1.2.3", "1.2.3-", "1.2.3+a..b", "1.2.3 "]) {
		assert.ok(!isVersion(version), version);
	}
});

test("a version has a commit of the branch, or its newest", () => {
	const commits = [{ type: "commit", id: "0123456789".repeat(4), attributes: { message: "Add a port\n\nIt is needed." } }];
	assert.deepEqual(commitField("main", commits, "").options, [
		["", "The newest commit of main"],
		["0123456789".repeat(4), "0123456 Add a port"],
	]);
	assert.match(String(commitField("main", [], "no answer").hint), /no answer/);
	assert.deepEqual(versionBody({ version: " 1.0.0 ", "commit-sha": "" }).data.attributes, { version: "1.0.0" });
	assert.deepEqual(versionBody({ version: "1.0.0", "commit-sha": "abc" }).data.attributes, { version: "1.0.0", "commit-sha": "abc" });
});
