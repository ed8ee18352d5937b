// SPDX-License-Identifier: MPL-2.0
// node test.mjs FOLDER: bundles the unit tests (src/**/*.test.ts) into FOLDER/tests and runs them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = resolve(process.argv[2]);
const out = mkdtempSync(join(folder, "tests-"));

function tests(path) {
	return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
		const full = join(path, entry.name);
		return entry.isDirectory() ? tests(full) : entry.name.endsWith(".test.ts") ? [full] : [];
	});
}

await esbuild.build({
	absWorkingDir: web,
	entryPoints: tests(join(web, "src")),
	alias: { "generated/statuses": join(folder, "generated/statuses.ts"), "generated/explorer": join(folder, "generated/explorer.ts") },
	outdir: out,
	outExtension: { ".js": ".mjs" },
	bundle: true,
	splitting: true,
	format: "esm",
	platform: "node",
	target: "node18",
	jsx: "automatic",
	jsxImportSource: "preact",
});
const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.mjs"));
const result = spawnSync(process.execPath, ["--test", ...files.map((name) => join(out, name))], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(result.status ?? 1);
