// SPDX-License-Identifier: MPL-2.0
// The Markdown of the repository as pages. A broken link, or an image that is too large, is an error.
//   node docs.mjs embed FOLDER          writes FOLDER/docs.c and FOLDER/docs.S, which embed the pages in the scheduler
//   node docs.mjs static FOLDER ASSETS  writes a folder for any web server, with the bundle's files of ASSETS
//   node docs.mjs names                 prints the names of pages with their Markdown files

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join, normalize, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");
const maxImage = 60_000;
const imageTypes = { ".svg": "image/svg+xml", ".png": "image/png" };

// The groups of the list of pages, by the beginning of the Markdown's path. The first that fits has the page.
const groups = [
	["Guides", "deploy/docs/"],
	["Runbooks", "deploy/runbooks/"],
	["Identity", "deploy/identity/"],
	["Operator's manual", "deploy/"],
	["How Runyard works", ""],
];
// The order of guides is that of their readers.
const guideOrder = ["index", "users", "users-vcs", "users-checks", "platform", "operators", "integrators", "security"];

// ---- the Markdown files ----

function markdownFiles(folder) {
	return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) {
			return skippedFolder(entry.name) ? [] : markdownFiles(path);
		}
		return entry.isFile() && extname(path) === ".md" ? [path] : [];
	});
}

// Folders of builds, of packages and of tools, but .github.
const skippedFolder = (name) => /^(build.*|node_modules|generated|\.(?!github$).*)$/.test(name);

// deploy/docs/users.md is "users", deploy/identity/README.md is "deploy-identity".
function nameOf(path) {
	const plain = path
		.replace(/^deploy\/docs\//, "")
		.replace(/^\./, "")
		.replace(/\/?README\.md$|\.md$/, "")
		.replaceAll("/", "-")
		.toLowerCase();
	return plain || (path === "README.md" ? "readme" : "index");
}

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text) => text.replace(/[&<>"']/g, (character) => escapes[character]);

// The anchor of a heading, as forges make it of its Markdown.
const anchorOf = (heading) =>
	heading
		.toLowerCase()
		.replace(/[^\p{L}\p{N}_\- ]/gu, "")
		.replaceAll(" ", "-");

const plainOf = (tokens) =>
	(tokens ?? []).map((token) => (token.tokens ? plainOf(token.tokens) : token.type === "html" ? "" : (token.text ?? ""))).join("");

const lexer = new Marked({ gfm: true });

function headingsOf(tokens) {
	const used = new Map();
	return tokens
		.filter((token) => token.type === "heading")
		.map((token) => {
			const base = anchorOf(token.text);
			const count = used.get(base) ?? 0;
			used.set(base, count + 1);
			return { token, depth: token.depth, anchor: count ? `${base}-${count}` : base, title: plainOf(token.tokens) };
		});
}

function pageOf(path) {
	const tokens = lexer.lexer(readFileSync(join(root, path), "utf8"));
	const headings = headingsOf(tokens);
	return { path, name: nameOf(path), title: headings[0]?.title ?? path, tokens, headings };
}

// ---- links ----

const problems = [];

// What a link of a page leads to: {href}, or {source} for a file that is no page.
function targetOf(page, href, pages, addressOf) {
	if (/^(https?|mailto):/.test(href)) {
		return { href };
	}
	const [file, anchor] = decodeURI(href).split("#");
	const path = file ? normalize(join(dirname(page.path), file)).replace(/\/$/, "") : page.path;
	const found = pages.get(path) ?? pages.get(join(path, "README.md"));
	if (path.startsWith("..") || (!found && !existsSync(join(root, path)))) {
		problems.push(`${page.path}: ${href} is not there`);
		return { source: path };
	}
	if (!found) {
		return { source: path };
	}
	if (anchor && !found.headings.some((heading) => heading.anchor === anchor)) {
		problems.push(`${page.path}: ${href} has no such heading`);
	}
	return { href: addressOf(found.name) + (anchor ? `#${anchor}` : "") };
}

function imageOf(page, href) {
	const path = join(root, dirname(page.path), href);
	const type = imageTypes[extname(path)];
	if (!type || !existsSync(path) || statSync(path).size > maxImage) {
		problems.push(`${page.path}: ${href} is no image of at most ${maxImage} bytes`);
		return "";
	}
	return `data:${type};base64,${readFileSync(path).toString("base64")}`;
}

// ---- pages ----

// The words after the language of a block are for tests/docs; file=NAME is shown.
function codeHtml({ text, lang }) {
	const file = /(?:^|\s)file=(\S+)/.exec(lang ?? "")?.[1];
	const caption = file ? `<p class="docs-file"><code>${escaped(file)}</code></p>\n` : "";
	return `${caption}<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
}

function bodyHtml(page, pages, addressOf) {
	const anchors = new Map(page.headings.map((heading) => [heading.token, heading.anchor]));
	const renderer = {
		html: ({ text }) => (text.trim().startsWith("<!--") ? "" : escaped(text)),
		code: codeHtml,
		heading(token) {
			return `<h${token.depth} id="${anchors.get(token)}">${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
		},
		link({ href, tokens }) {
			const words = this.parser.parseInline(tokens);
			const target = targetOf(page, href, pages, addressOf);
			if (target.href) {
				return `<a href="${escaped(target.href)}">${words}</a>`;
			}
			const named = plainOf(tokens).includes(target.source.split("/").at(-1));
			return named
				? `<span title="${escaped(target.source)}">${words}</span>`
				: `${words} (<code>${escaped(target.source)}</code> in the source)`;
		},
		tablecell: ({ header, text }) => (header && !text ? "<td></td>\n" : false), // a reader can't use an empty heading
		image: ({ href, text }) => `<img src="${imageOf(page, href)}" alt="${escaped(text)}">`,
	};
	return new Marked({ gfm: true, renderer }).parser(page.tokens);
}

function contentsHtml(page) {
	const parts = page.headings.filter((heading) => heading.depth === 2);
	if (parts.length < 3) {
		return "";
	}
	const items = parts.map(({ anchor, title }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>\n`).join("");
	return `<details class="docs-contents"><summary>On this page</summary>\n<ul>\n${items}</ul></details>\n`;
}

function listHtml(page, pages, addressOf) {
	const groupOf = ({ path }) => groups.find(([, start]) => path.startsWith(start));
	const place = ({ name, title }) => [guideOrder.indexOf(name) + 1 || guideOrder.length + 1, title.toLowerCase()];
	return groups
		.map((group) => {
			const [title] = group;
			const items = [...pages.values()]
				.filter((other) => groupOf(other) === group)
				.sort((a, b) => place(a)[0] - place(b)[0] || (place(a)[1] < place(b)[1] ? -1 : 1))
				.map(
					(other) =>
						`<li><a href="${addressOf(other.name)}"${other === page ? ' aria-current="page"' : ""}>${escaped(other.title)}</a></li>\n`,
				)
				.join("");
			const open = title === groups[0][0] || groupOf(page) === group ? " open" : "";
			return `<details${open}><summary>${escaped(title)}</summary>\n<ul>\n${items}</ul></details>\n`;
		})
		.join("");
}

// The part of a page below the bar of the site. docs.ts shows the search.
function fragmentHtml(page, pages, addressOf, indexAddress) {
	const body = bodyHtml(page, pages, addressOf).replace("</h1>\n", `</h1>\n${contentsHtml(page)}`);
	return (
		`<main class="docs">\n<nav class="docs-list" aria-label="Documentation">\n` +
		`<search class="docs-search" data-index="${indexAddress}" hidden><label>Search the documentation <input type="search" autocomplete="off"></label>\n` +
		`<p role="status" class="muted"></p><ol></ol></search>\n` +
		`${listHtml(page, pages, addressOf)}</nav>\n<article class="docs-page">\n${body}</article>\n</main>\n`
	);
}

// ---- the search ----

const minWord = 2;
const maxWord = 40;
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*[\p{L}\p{N}_]/gu) ?? [];

// Each section of each page: {page, anchor, title, words}. A word with dots or hyphens also counts by its parts.
function sectionsOf(page) {
	const sections = [];
	const headings = new Map(page.headings.map((heading) => [heading.token, heading]));
	for (const token of page.tokens) {
		const heading = headings.get(token);
		if (heading) {
			sections.push({ anchor: heading.depth === 1 ? "" : heading.anchor, title: heading.title, words: new Set() });
		}
		for (const word of wordsOf(token.raw)) {
			for (const part of [word, ...word.split(/[.-]+/)]) {
				if (part.length >= minWord && part.length <= maxWord) {
					sections.at(-1)?.words.add(part);
				}
			}
		}
	}
	return sections;
}

// {pages: [[address, title]], sections: [[page, anchor, title]], words: {word: "first section, and then differences"}}
function indexJson(pages, addressOf) {
	const listed = [...pages.values()];
	const sections = listed.flatMap((page, number) => sectionsOf(page).map((section) => ({ ...section, number })));
	const words = new Map();
	sections.forEach((section, number) => {
		for (const word of section.words) {
			const numbers = words.get(word) ?? [];
			numbers.push(number);
			words.set(word, numbers);
		}
	});
	const differences = (numbers) => numbers.map((number, i) => number - (i ? numbers[i - 1] : 0)).join(" ");
	return JSON.stringify({
		pages: listed.map((page) => [addressOf(page.name), page.title]),
		sections: sections.map(({ number, anchor, title }) => [number, anchor, title]),
		words: Object.fromEntries([...words].sort().map(([word, numbers]) => [word, differences(numbers)])),
	});
}

// ---- output ----

function filesOf(addressOf, indexAddress) {
	const pages = new Map(
		markdownFiles("")
			.sort()
			.map((path) => [path, pageOf(path)]),
	);
	const names = [...pages.values()].map((page) => page.name);
	problems.push(...names.filter((name, i) => names.indexOf(name) !== i).map((name) => `two Markdown files make the page ${name}`));
	const made = [...pages.values()].map((page) => ({
		name: page.name,
		title: page.title,
		path: page.path,
		text: fragmentHtml(page, pages, addressOf, indexAddress),
	}));
	if (problems.length) {
		console.error(problems.join("\n"));
		process.exit(1);
	}
	return { pages: made, index: indexJson(pages, addressOf) };
}

function embed(folder) {
	const base = "/app/docs";
	const { pages, index } = filesOf((name) => (name === "index" ? base : `${base}/${name}`), `${base}/search.json`);
	const files = [...pages, { name: "search.json", title: "", text: index }];
	mkdirSync(join(folder, "docs"), { recursive: true });
	for (const file of files) {
		writeFileSync(join(folder, "docs", file.name), file.text);
	}
	const symbol = (i) => `runyard_document_${i}`;
	writeFileSync(
		join(folder, "docs.S"),
		`\t.section .rodata\n${files.map((file, i) => `\t.globl ${symbol(i)}\n${symbol(i)}:\n\t.incbin "docs/${file.name}"\n\t.byte 0\n`).join("")}` +
			'\t.section .note.GNU-stack,"",@progbits\n',
	);
	const row = (file, i) =>
		`\t{${JSON.stringify(file.name)}, ${JSON.stringify(file.title)}, ${symbol(i)}, ${Buffer.byteLength(file.text)}},\n`;
	writeFileSync(
		join(folder, "docs.c"),
		'#include "scheduler/ui/docs/docs.h"\n\n' +
			files.map((_, i) => `extern const char ${symbol(i)}[];\n`).join("") +
			`\nconst struct document embedded_documents[] = {\n${files.map(row).join("")}};\n` +
			`const size_t embedded_documents_count = ${files.length};\n`,
	);
}

const staticHtml = (page, title, files) =>
	`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n` +
	`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'">\n` +
	`<title>${escaped(title)} · Runyard</title>\n<link rel="icon" href="data:,">\n` +
	`${["app.css", "docs.css"].map((name) => `<link rel="stylesheet" href="${files.get(name)}">\n`).join("")}` +
	`<script type="module" src="${files.get("docs.js")}"></script>\n</head>\n<body>\n` +
	`<header class="bar"><a class="brand" href="index.html">Runyard</a></header>\n${page}</body>\n</html>\n`;

function writeStatic(folder, assets) {
	const manifest = readFileSync(join(assets, "manifest.txt"), "utf8").trim().split("\n");
	const files = new Map(manifest.map((line) => line.split(" ")).filter(([name]) => ["app.css", "docs.css", "docs.js"].includes(name)));
	const { pages, index } = filesOf((name) => `${name}.html`, "search.json");
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	for (const page of pages) {
		writeFileSync(join(folder, `${page.name}.html`), staticHtml(page.text, page.title, files));
	}
	for (const file of files.values()) {
		copyFileSync(join(assets, "assets", file), join(folder, file));
	}
	writeFileSync(join(folder, "search.json"), index);
}

const [, , command, folder, assets] = process.argv;
if (command === "embed" && folder) {
	embed(resolve(folder));
} else if (command === "static" && folder && assets) {
	writeStatic(resolve(folder), resolve(assets));
} else if (command === "names") {
	console.log(
		filesOf((name) => name, "")
			.pages.map(({ name, path }) => `${name} ${path}`)
			.join("\n"),
	);
} else {
	console.error("usage: node docs.mjs embed FOLDER | static FOLDER ASSETS | names");
	process.exit(2);
}
