// SPDX-License-Identifier: MPL-2.0
// node bundle.mjs FOLDER [--watch]: writes FOLDER/dist (the assets and manifest.txt), and the sources that embed them:
// FOLDER/assets.S and FOLDER/assets.c. With --watch it writes FOLDER/development instead, at each change, for the option
// --ui-dir.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { writeExplorerModule } from "./explorer.mjs";
import { writeStatusModule } from "./statuses.mjs";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = resolve(web, "../../..");
const folder = resolve(process.argv[2]);
const watching = process.argv[3] === "--watch";
const dist = join(folder, watching ? "development" : "dist");
const types = {
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
};

// The files that pages of the server name.
const entries = {
	"app.js": "src/app.tsx",
	"sign_in.js": "src/sign_in.ts",
	"passkeys.js": "src/passkeys.ts",
	"server_page.js": "src/server_page.ts",
	"app.css": "src/styles/app.css",
	"docs.js": "src/docs.ts",
	"docs.css": "src/styles/docs.css",
};
// The shared worker is one file. The page knows its address from the build (core/worker_start.ts).
const eventWorker = "src/stream/worker.ts";
const generated = join(folder, "generated");

// All modules of these folders are one file, which the script of the page and each part import: esbuild would write a
// file for each set of parts that share a module. Names that they export are unique; tsc checks that.
const sharedFolders = ["core", "components", "shell"];
const sharedPackages = ["preact", "preact/hooks", "preact/jsx-runtime"];

function writeSharedModule() {
	const files = sharedFolders.flatMap((name) =>
		readdirSync(join(web, "src", name))
			.filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".test.ts"))
			.sort()
			.map((file) => join(web, "src", name, file)),
	);
	const lines = ["generated/statuses", ...sharedPackages, ...files].map((from) => `export * from ${JSON.stringify(from)};\n`);
	writeFileSync(join(generated, "shared.ts"), lines.join(""));
}

const common = {
	absWorkingDir: web,
	alias: { "generated/statuses": join(generated, "statuses.ts"), "generated/explorer": join(generated, "explorer.ts") },
	nodePaths: [join(folder, "node_modules")],
	outdir: join(dist, "assets"),
	entryNames: "[name]-[hash]",
	chunkNames: "[name]-[hash]",
	bundle: true,
	format: "esm",
	minify: !watching,
	target: ["chrome109", "firefox115", "safari16.4"],
	jsx: "automatic",
	jsxImportSource: "preact",
	metafile: true,
	legalComments: "none",
	logLevel: "warning",
	write: false,
};

// sharedAs leads imports of shared modules to their file.
function sharedAs(file) {
	return {
		name: "shared",
		setup(build) {
			const external = { path: `./${file}`, external: true };
			build.onResolve({ filter: /^preact/ }, ({ path }) => (sharedPackages.includes(path) ? external : undefined));
			build.onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
				const [top] = relative(join(web, "src"), resolve(resolveDir, path)).split("/");
				return kind === "import-statement" && sharedFolders.includes(top) ? external : undefined;
			});
			build.onResolve({ filter: /^generated\/statuses$/ }, () => external);
		},
	};
}

async function bundle() {
	mkdirSync(generated, { recursive: true });
	writeStatusModule(root, join(generated, "statuses.ts"));
	writeExplorerModule(root, join(generated, "explorer.ts"));
	writeSharedModule();
	const worker = await esbuild.build({ ...common, entryNames: "events-[hash]", entryPoints: [eventWorker] });
	const define = { EVENT_WORKER: JSON.stringify(`/assets/${basename(worker.outputFiles[0].path)}`) };
	const shared = await esbuild.build({ ...common, define, entryPoints: [join(generated, "shared.ts")] });
	const file = basename(shared.outputFiles[0].path);
	const rest = await esbuild.build({ ...common, entryPoints: Object.values(entries), splitting: true, plugins: [sharedAs(file)] });
	const names = new Map([[file, "preload"]]);
	for (const [path, output] of Object.entries(rest.metafile.outputs)) {
		for (const [name, source] of Object.entries(entries)) {
			if (output.entryPoint === source && extname(path) === extname(name)) {
				names.set(basename(path), name);
			}
		}
	}
	return assetsOf([...worker.outputFiles, ...shared.outputFiles, ...rest.outputFiles], names);
}

function assetsOf(files, names) {
	return files
		.map((file) => {
			const base = basename(file.path);
			return {
				base,
				name: names.get(base) ?? "-",
				type: types[extname(base)],
				bytes: Buffer.from(file.contents),
				gzip: gzipSync(file.contents, { level: 9 }),
				etag: `"${createHash("sha256").update(file.contents).digest("hex").slice(0, 20)}"`,
			};
		})
		.sort((a, b) => (a.base < b.base ? -1 : 1));
}

// One line for each asset: its name for pages, and its file.
function distWrite(assets) {
	rmSync(join(dist, "assets"), { recursive: true, force: true });
	mkdirSync(join(dist, "assets"), { recursive: true });
	for (const asset of assets) {
		writeFileSync(join(dist, "assets", asset.base), asset.bytes);
		writeFileSync(join(dist, "assets", `${asset.base}.gz`), asset.gzip);
	}
	writeFileSync(join(dist, "manifest.txt"), assets.map((asset) => `${asset.name} ${asset.base}\n`).join(""));
}

function embeddedWrite(assets) {
	const bytes = (symbol, path) => `\t.balign 16\n${symbol}:\n\t.incbin "${relative(folder, path)}"\n${symbol}_end:\n\t.byte 0\n`;
	const globals = (symbol) => `\t.globl ${symbol}, ${symbol}_end\n`;
	const symbols = assets.flatMap((_, i) => [`runyard_asset_${i}`, `runyard_asset_gzip_${i}`]);
	const paths = assets.flatMap((asset) => [join(dist, "assets", asset.base), join(dist, "assets", `${asset.base}.gz`)]);

	writeFileSync(
		join(folder, "assets.S"),
		`\t.section .rodata\n${symbols.map((symbol, i) => globals(symbol) + bytes(symbol, paths[i])).join("")}` +
			'\t.section .note.GNU-stack,"",@progbits\n',
	);
	const row = (asset, i) =>
		`\t{${JSON.stringify(asset.name)}, ${JSON.stringify(asset.base)}, ${JSON.stringify(asset.type)}, ${JSON.stringify(asset.etag)},\n` +
		`\t\trunyard_asset_${i}, ${asset.bytes.length}, runyard_asset_gzip_${i}, ${asset.gzip.length}},\n`;
	writeFileSync(
		join(folder, "assets.c"),
		'#include "scheduler/ui/assets.h"\n\n' +
			symbols.map((symbol) => `extern const char ${symbol}[];\n`).join("") +
			`\nconst struct asset embedded_assets[] = {\n${assets.map(row).join("")}};\n` +
			`const size_t embedded_assets_count = ${assets.length};\n`,
	);
}

const firstLoad = (assets) =>
	assets.filter((asset) => ["app.js", "app.css", "preload"].includes(asset.name)).reduce((sum, asset) => sum + asset.gzip.length, 0);

function newestChange(path) {
	const times = readdirSync(path, { withFileTypes: true }).map((entry) => {
		const full = join(path, entry.name);
		return entry.isDirectory() ? newestChange(full) : statSync(full).mtimeMs;
	});
	return Math.max(statSync(path).mtimeMs, ...times);
}

if (watching) {
	const write = async () => {
		try {
			distWrite(await bundle());
			console.log(`${new Date().toLocaleTimeString()} written to ${dist}`);
		} catch {} // esbuild has shown the error
	};
	const pollMs = 300; // Node.js 18 can't watch folders with their subfolders on Linux
	for (let last = 0; ; ) {
		const newest = newestChange(join(web, "src"));
		if (newest > last) {
			await write();
		}
		last = newest;
		await new Promise((resume) => setTimeout(resume, pollMs));
	}
} else {
	const assets = await bundle();
	distWrite(assets);
	embeddedWrite(assets);
	console.log(`bundle: ${assets.length} files, ${firstLoad(assets)} bytes of gzip at the first load`);
}
