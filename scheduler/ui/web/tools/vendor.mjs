// SPDX-License-Identifier: MPL-2.0
// node vendor.mjs fetch FOLDER: puts the packages that the bundle needs into the folder, as the registry's archives.
// node vendor.mjs unpack FOLDER NODE_MODULES: unpacks them from there. Both verify each archive against package-lock.json.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [mode, folder, modules] = process.argv.slice(2);
const lock = JSON.parse(readFileSync(join(web, "package-lock.json"), "utf8"));

// What the pages contain, and the bundler with its program for the machines that Runyard is built on.
const bundler = /^(esbuild|@esbuild\/linux-(x64|arm64))$/;
const packages = Object.entries(lock.packages)
	.map(([path, entry]) => ({ ...entry, name: path.replace(/^node_modules\//, "") }))
	.filter(({ name, dev, optional }) => name !== "" && (bundler.test(name) || (!dev && !optional)));

const archive = ({ name, version }) => join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);

function verify(one) {
	const digest = `sha512-${createHash("sha512")
		.update(readFileSync(archive(one)))
		.digest("base64")}`;
	if (digest !== one.integrity) throw new Error(`${archive(one)} is not the archive that package-lock.json names: ${digest}`);
}

function fetchAll() {
	mkdirSync(folder, { recursive: true });
	for (const one of packages) {
		const written = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder, `${one.name}@${one.version}`], {
			encoding: "utf8",
		});
		renameSync(join(folder, written.trim().split("\n").at(-1)), archive(one));
		verify(one);
	}
}

function unpackAll() {
	for (const one of packages) {
		verify(one);
		mkdirSync(join(modules, one.name), { recursive: true });
		execFileSync("tar", ["-xzf", archive(one), "-C", join(modules, one.name), "--strip-components=1", "--no-same-owner"]);
	}
}

const modes = { fetch: fetchAll, unpack: unpackAll };
modes[mode]();
