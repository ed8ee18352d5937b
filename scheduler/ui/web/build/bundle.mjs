// SPDX-License-Identifier: MPL-2.0
// node bundle.mjs FOLDER [--watch]: writes FOLDER/dist (the assets and manifest.txt), and the sources that embed them:
// FOLDER/assets.S and FOLDER/assets.c. With --watch it writes dist at each change, for the option --ui-dir.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { writeStatusModule } from "./statuses.mjs";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = resolve(web, "../../..");
const folder = resolve(process.argv[2]);
const dist = join(folder, "dist");
const types = {
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
};

// The files that pages name: each entry, and the chunks that the page's script imports at once.
const entries = { "app.js": "src/app.tsx", "sign_in.js": "src/sign_in.ts", "app.css": "src/styles/app.css" };
const icons = readdirSync(join(web, "src/icons")).filter((name) => name.endsWith(".svg"));

const generated = join(folder, "generated");
writeStatusModule(root, join(generated, "statuses.ts"));

const options = {
	absWorkingDir: web,
	alias: { "generated/statuses": join(generated, "statuses.ts") },
	entryPoints: [...Object.values(entries), ...icons.map((name) => `src/icons/${name}`)],
	outdir: join(dist, "assets"),
	outbase: "src",
	entryNames: "[name]-[hash]",
	chunkNames: "[name]-[hash]",
	assetNames: "[name]-[hash]",
	loader: { ".svg": "copy" },
	bundle: true,
	splitting: true,
	format: "esm",
	minify: true,
	target: ["chrome109", "firefox115", "safari16.4"],
	jsx: "automatic",
	jsxImportSource: "preact",
	metafile: true,
	legalComments: "none",
	logLevel: "warning",
	write: false,
};

// The logical name of each output that pages name; chunks that the entry imports at once are "preload".
function namesOf(metafile) {
	const names = new Map();
	const outputs = metafile.outputs;
	for (const [path, output] of Object.entries(outputs)) {
		for (const [name, source] of Object.entries(entries)) {
			if (output.entryPoint === source && extname(path) === extname(name)) {
				names.set(basename(path), name);
			}
		}
		if (output.entryPoint?.startsWith("src/icons/")) {
			names.set(basename(path), basename(output.entryPoint));
		}
	}
	const app = Object.entries(outputs).find(([, output]) => output.entryPoint === entries["app.js"]);
	const pending = [app[0]];
	while (pending.length > 0) {
		for (const next of outputs[pending.pop()].imports) {
			if (next.kind === "import-statement" && !names.has(basename(next.path))) {
				names.set(basename(next.path), "preload");
				pending.push(next.path);
			}
		}
	}
	return names;
}

function assetsOf(result) {
	const names = namesOf(result.metafile);
	return result.outputFiles
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

if (process.argv[3] === "--watch") {
	const show = {
		name: "show",
		setup(build) {
			build.onEnd((result) => {
				if (result.errors.length === 0) {
					distWrite(assetsOf(result));
					console.log(`${new Date().toLocaleTimeString()} written to ${dist}`);
				}
			});
		},
	};
	const context = await esbuild.context({ ...options, minify: false, sourcemap: false, plugins: [show] });
	await context.watch();
} else {
	const assets = assetsOf(await esbuild.build(options));
	distWrite(assets);
	embeddedWrite(assets);
	console.log(`bundle: ${assets.length} files, ${firstLoad(assets)} bytes of gzip at the first load`);
}
