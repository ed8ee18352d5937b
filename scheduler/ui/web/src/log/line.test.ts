// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { linkParts, safeUrl } from "../core/links.ts";
import { ErrorLines, lineOf, searchedText } from "./line.ts";
import { placeFragment, placeOf, rangeOf } from "./ranges.ts";
import { lastSegment, plainText, spansOf } from "./sgr.ts";
import { clock, timeText } from "./times.ts";
import { anchorOf, highest, listHeight, rowsOf, scrollTo } from "./viewport.ts";

const shown = (text: string) => spansOf(text).map((span) => (span.classes ? `${span.text}[${span.classes}]` : span.text));

test("colours of 8, 16, 256 and all become tokens", () => {
	assert.deepEqual(shown("\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[m"), ["red[failure]", " ", "green[success bold]"]);
	assert.deepEqual(shown("\x1b[93my\x1b[39m\x1b[90mg"), ["y[wait]", "g[muted]"]);
	assert.deepEqual(shown("\x1b[38;5;196mr\x1b[38;5;21mb\x1b[38;5;244mg\x1b[38;5;231mw"), ["r[failure]", "b[running]", "g[muted]", "w"]);
	assert.deepEqual(shown("\x1b[38;2;0;200;0mg\x1b[38:2::200:0:200mm\x1b[38:2:255:0:0mr"), ["g[success]", "m[replace]", "r[failure]"]);
	assert.deepEqual(shown("\x1b[41;32mx\x1b[49my"), ["x[back-failure]", "y[success]"]);
	assert.deepEqual(shown("\x1b[2mdim\x1b[22m\x1b[3;4mit\x1b[23;24m."), ["dim[muted]", "it[italic underline]", "."]);
	assert.deepEqual(shown("\x1b[4:0mx\x1b[4:3my"), ["x", "y[underline]"]);
});

test("other escapes and controls are dropped, and no text with them", () => {
	assert.deepEqual(shown("a\x1b[2Kb\x1b[10;20Hc\x1b(Bd\x1b7e\x1b[?25lf"), ["a", "b", "c", "d", "e", "f"]);
	assert.equal(plainText("\x1b]0;title\x07text\x1bPdata\x1b\\more\x1b]never ends"), "textmorenever ends");
	assert.equal(plainText("a\x00b\x08c\x07\x7f\u009bd\te"), "abcd\te");
	assert.equal(plainText("user\u202etxt.exe\u2066x\u200f"), "usertxt.exex");
	assert.equal(plainText("\x1b"), "");
	assert.equal(plainText("\x1b["), "");
	assert.equal(plainText("\x1b[31"), "");
	assert.equal(plainText("x\x1b[999999999999999999999;;;;38;5;48;2mz"), "xz");
});

test("hostile escapes take a linear time", () => {
	const began = process.cpuUsage().user / 1000;
	for (const piece of ["\x1b]", "\x1b[", "\x1b]8;;http://a", "\x1bP", "\r", "http://a)", "\x1b[38;5;", "((((", "\x1b[1m"]) {
		const text = piece.repeat(60_000 / piece.length);
		spansOf(text.slice(0, 8192));
		plainText(text);
		searchedText(text);
		lineOf(text, false);
	}
	assert.ok(process.cpuUsage().user / 1000 - began < 3000);
});

test("carriage returns keep the last text", () => {
	assert.deepEqual(["10%\r100%\r", "a\r\r\r", "\r\rb", "c", ""].map(lastSegment), ["100%", "a", "b", "c", ""]);
	assert.equal(searchedText("\u000210%\r\x1b[32mdone\x1b[0m\r"), "done");
});

test("only http and https become links, and none with a user name", () => {
	assert.equal(safeUrl("https://example.org/a?b#c"), "https://example.org/a?b#c");
	const bad = ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://github.com@evil.example/", "//evil.example"];
	assert.deepEqual(bad.map(safeUrl), ["", "", "", "", ""]);
	assert.deepEqual(["http://", " https://a.b", `https://a/${"x".repeat(3000)}`, "https://[::1"].map(safeUrl), ["", "", "", ""]);
	assert.deepEqual(
		linkParts("see (https://a.example/x_(y)), or http://b.example. JAVASCRIPT://x").map((part) => [part.text, part.href]),
		[
			["see (", ""],
			["https://a.example/x_(y)", "https://a.example/x_(y)"],
			["), or ", ""],
			["http://b.example", "http://b.example/"],
			[". JAVASCRIPT://x", ""],
		],
	);
});

test("OSC 8 links are links only to the web, and end", () => {
	const link = (url: string) => spansOf(`\x1b]8;id=1;${url}\x1b\\text\x1b]8;;\x1b\\ after`).map((span) => [span.text, span.href]);
	assert.deepEqual(link("https://a.example/"), [
		["text", "https://a.example/"],
		[" after", ""],
	]);
	assert.deepEqual(link("javascript:alert(1)"), [
		["text", ""],
		[" after", ""],
	]);
});

test("lines of JSON show message and level, and other lines as they are", () => {
	const json = '{"@level":"error","@message":"Error: \\u001b[31mno\\nway","@timestamp":"2026-11-23T06:00:00.250Z"}';
	const line = lineOf(json, false);
	assert.equal(line.spans.map((span) => span.text).join(""), "Error: no ⏎ way");
	assert.deepEqual([line.level, line.time], ["error", Date.UTC(2026, 10, 23, 6, 0, 0, 250)]);
	assert.equal(searchedText(json), "Error: no ⏎ way");
	assert.equal(searchedText('{"@level":"info","@message":"Apply complete","x":1}'), "Apply complete");
	for (const text of ["{not json", '{"@message":7}', '{"@message":"x"', "[1]", '{"a":{"@message":"inner"}}']) {
		assert.equal(searchedText(text), text);
		assert.equal(
			lineOf(text, false)
				.spans.map((span) => span.text)
				.join(""),
			text,
		);
	}
	assert.equal(lineOf(json, true).spans[0]?.text, json);
	assert.equal(lineOf("\u0002a\x1b[1mb\u0003", true).spans[0]?.text, "a␛[1mb");
	assert.equal(lineOf(`{"@message":"${"x".repeat(20_000)}"}`, false).left, 20_000 - 8192);
	assert.equal(lineOf("y".repeat(10_000), false).left, 10_000 - 8192);
	assert.equal(lineOf("2026-11-23T06:00:00.250Z [INFO] x", false).time, Date.UTC(2026, 10, 23, 6, 0, 0, 250));
});

test("what the search reads is what is shown", () => {
	for (const text of ["\u0002x", "a\rb", "\x1b[1mP\x1b[0mlan", '{"@level":"warn","@message":"m \\"q\\""}', "\ufffd", "t\tt"]) {
		assert.equal(
			searchedText(text),
			lineOf(text, false)
				.spans.map((span) => span.text)
				.join(""),
		);
	}
});

test("errors are boxes, lines of JSON with the level error, and single lines", () => {
	const log = [
		"ok",
		"╷",
		"│ Warning: w",
		"╵",
		"\x1b[31m╷\x1b[0m",
		"│ Error: bad",
		"│ more",
		"╵",
		"Error: one",
		'{"@level":"error","@message":"x"}',
		'{"@level":"info","@message":"Error: y"}',
	];
	const lines = new ErrorLines();
	assert.deepEqual(
		log.flatMap((text, i) => lines.next(i, text)),
		[4, 5, 6, 7, 8, 9],
	);
});

test("ranges of lines in the fragment", () => {
	assert.deepEqual(placeOf("#plan:L10-L20"), { log: "plan", range: { first: 9, last: 19 } });
	assert.deepEqual(placeOf("#apply:L20-10"), { log: "apply", range: { first: 9, last: 19 } });
	assert.deepEqual(placeOf("#plan:L1"), { log: "plan", range: { first: 0, last: 0 } });
	for (const bad of ["", "#plan", "#plan:L0", "#plan:L-1", "#plan:L1x", "#<b>:L1", "#plan:L9999999999999", "#change:a.b"]) {
		assert.equal(placeOf(bad), undefined);
	}
	assert.equal(placeFragment("plan", rangeOf(19, 9)), "#plan:L10-L20");
	assert.equal(placeFragment("plan", rangeOf(4, 4)), "#plan:L5");
});

test("times are absolute, since the start, or since the line before", () => {
	const at = Date.UTC(2026, 10, 23, 6, 5, 7, 25);
	const times = { at, start: at - 61_250, before: at + 3 };
	assert.equal(clock(at, true), "06:05:07.025");
	assert.deepEqual(
		(["off", "absolute", "start", "gap"] as const).map((mode) => timeText(mode, times, true)),
		["", "06:05:07.025", "+61.250s", "−0.003s"],
	);
	assert.equal(timeText("gap", { at, start: at, before: undefined }, true), "");
});

test("a list shows its rows at the position of a plain list while it is short enough", () => {
	const layout = { count: 1000, row: 20, view: 400 };
	for (const scroll of [0, 7, 4321, 19_600]) {
		const anchor = anchorOf(layout, scroll);
		assert.ok(Math.abs((anchor.index + anchor.part) * 20 - anchor.top - scroll) < 0.001);
		const rows = rowsOf(layout, anchor, 0);
		assert.ok(rows.first * 20 <= scroll && rows.last * 20 >= Math.min(scroll + 400, 20_000));
	}
	assert.equal(scrollTo(layout, 0, 0.5), 0);
	assert.ok(Math.abs(scrollTo(layout, 500, 0.5) - (500.5 * 20 - 200)) < 0.001);
	assert.deepEqual(anchorOf({ count: 3, row: 20, view: 400 }, 50), { index: 0, part: 0, top: 0 });
});

test("a list beyond the height of elements reaches all rows", () => {
	const layout = { count: 5_000_000, row: 20, view: 400 };
	assert.equal(listHeight(layout), highest);
	const last = rowsOf(layout, anchorOf(layout, highest - 400), 0);
	assert.equal(last.last, 5_000_000);
	assert.equal(rowsOf(layout, anchorOf(layout, 0), 0).first, 0);
	for (const row of [0, 1, 77_777, 2_500_000, 4_999_999]) {
		const rows = rowsOf(layout, anchorOf(layout, scrollTo(layout, row, 0.4)), 0);
		assert.ok(row >= rows.first && row < rows.last, `${row} in ${rows.first} to ${rows.last}`);
	}
});
