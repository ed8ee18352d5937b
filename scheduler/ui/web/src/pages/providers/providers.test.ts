// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { archiveOf, percent, problemOf, sumsOf } from "./provider_files.ts";
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

test("the name of an archive says its provider, version and platform", () => {
	const archive = (name: string) => Object.values(archiveOf(name) ?? {}).join(" ");
	assert.equal(archive("terraform-provider-time_1.2.0_linux_amd64.zip"), "time 1.2.0 linux amd64");
	assert.equal(archive("terraform-provider-my_own-one_1.2.0-rc.1+b_darwin_arm64.zip"), "my_own-one 1.2.0-rc.1+b darwin arm64");
	for (const name of [
		"",
		"time_1.2.0_linux_amd64.zip",
		"terraform-provider-time_1.2.0_linux.zip",
		"terraform-provider-time_1.2.0_linux_amd64.tar",
		"terraform-provider-time_1.2.0_linux_amd64.zip.exe",
		"terraform-provider-../../x_1.2.0_linux_amd64.zip",
		"terraform-provider-time_1.2.0_<b>_amd64.zip",
		"terraform-provider-time_1.2.0_linux_amd64.zip\n",
		"x/terraform-provider-time_1.2.0_linux_amd64.zip",
	]) {
		assert.equal(archiveOf(name), undefined, name);
	}
});

const sum = (digit: string) => digit.repeat(64);

test("SHA256SUMS has the checksum of each file", () => {
	const sums = sumsOf(
		`${sum("a")}  a.zip\n${sum("b")} *b.zip\r\n\n${sum("C")}  c.zip\nshort  d.zip\n${sum("e")}  __proto__\n${sum("f")}  x y.zip`,
	);
	assert.deepEqual(
		[...sums],
		[
			["a.zip", sum("a")],
			["b.zip", sum("b")],
			["__proto__", sum("e")],
			["x y.zip", sum("f")],
		],
	);
	assert.equal(sumsOf("").size, 0);
});

test("an archive that can't be sent says why", () => {
	const file = "terraform-provider-time_1.2.0_linux_amd64.zip";
	const wanted = { provider: "Time", version: "1.2.0", sums: new Map([[file, sum("a")]]) };
	assert.equal(problemOf(file, wanted), undefined);
	assert.equal(problemOf(file, { ...wanted, sums: undefined }), undefined);
	assert.equal(problemOf(file, { ...wanted, sums: new Map() }), "SHA256SUMS has no line for it");
	assert.equal(problemOf(file, { ...wanted, version: "1.2.1" }), "An archive of version 1.2.0");
	assert.equal(problemOf(file, { ...wanted, provider: "other" }), "An archive of the provider time");
	assert.equal(problemOf("constructor", wanted), "Not named terraform-provider-Time_VERSION_OS_ARCH.zip");
});

test("a file is not sent wholly before its end", () => {
	assert.deepEqual(
		[percent(0, 0), percent(0, 3), percent(2, 3), percent(999, 1000), percent(3, 3), percent(4, 3)],
		[0, 0, 66, 99, 100, 100],
	);
});
