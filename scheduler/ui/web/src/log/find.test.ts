// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { matcherOf, matchesIn } from "./find.ts";
import { blockBytes, LogBytes } from "./log_bytes.ts";
import { Pattern, PatternError } from "./pattern.ts";
import { Scan } from "./scan.ts";

const encode = (text: string) => new TextEncoder().encode(text);

// Patterns whose leftmost match is also the longest one.
const patterns = [
	"abc",
	"a.c",
	"^ab",
	"bc$",
	"a*b",
	"x+y",
	"colou?r",
	"(?:ab)+c",
	"[a-f]+",
	"[^a-z ]+",
	"\\d{2,3}",
	"\\bword\\b",
	"\\w+@\\w+",
	"a{3}",
	"b{2,}",
	"(one|two) three",
	"\\.tf:\\d+",
	"[\\d.]+",
	"\\x41",
	"\\u0042",
	"[\\]x]",
	"a\\|b",
	"\\$\\{",
	"",
	"()",
	"[^]",
	"a||b",
];
const texts = [
	"",
	"abc",
	"xxabcab",
	"a|b",
	"colour color",
	"ababc",
	"deadbeef",
	"UPPER 12 1234",
	"a word here",
	"sword",
	"me@host",
	"aaaa",
	"bbb",
	"one three two three",
	"main.tf:12: x",
	"1.2.3.4",
	"AB",
	"]x",
	"$" + "{var}",
	"xxxy",
	"ABC",
];

test("patterns match as the browser's do", () => {
	for (const source of patterns) {
		for (const ignoreCase of [false, true]) {
			const pattern = new Pattern(source, ignoreCase);
			const expected = new RegExp(source, ignoreCase ? "is" : "s");
			for (const text of texts) {
				const match = expected.exec(text);
				const found = pattern.find(text);
				const name = `/${source}/ in ${JSON.stringify(text)}`;
				assert.equal(pattern.test(text), match !== null, name);
				assert.equal(found?.from, match?.index, name);
				if (match && source !== "a||b") {
					assert.equal(text.slice(found?.from, found?.to), match[0], name);
				}
			}
		}
	}
});

test("catastrophic patterns take a linear time", () => {
	const text = "a".repeat(30_000);
	const began = process.cpuUsage().user / 1000;
	for (const source of ["(a+)+$x", "(a|aa)+b", "(a*)*c", ".*.*.*.*=", "(?:(?:a?)*)*z", "(a|a|a|a)*d"]) {
		assert.equal(new Pattern(source, true).test(text), false);
		assert.equal(new Pattern(source, false).find(text), undefined);
	}
	assert.ok(process.cpuUsage().user / 1000 - began < 5000);
});

test("patterns that are wrong, too large or not supported say so", () => {
	const bad = ["(", ")", "[", "*a", "a**b(", "(?=a)", "(?<n>a)", "(a)\\1", "a{3,2}", "[z-a]", "\\", "((a{99}){99}){99}", "(".repeat(99)];
	for (const source of bad) {
		assert.throws(() => new Pattern(source, false), PatternError, source);
		assert.notEqual(matcherOf({ text: source, regex: true, matchCase: false }).error, "");
	}
});

test("plain texts match with and without case, at each place", () => {
	const places = (text: string, matchCase: boolean, regex = false) =>
		matchesIn(matcherOf({ text: "ab", regex, matchCase }).matcher, text).map((match) => match.from);
	assert.deepEqual(places("abAB xab", false), [0, 2, 6]);
	assert.deepEqual(places("abAB xab", true), [0, 6]);
	assert.deepEqual(places("abAB xab", false, true), [0, 2, 6]);
	assert.deepEqual(places("İİab", false), [2]);
	assert.equal(matchesIn(matcherOf({ text: "", regex: true, matchCase: false }).matcher, "x").length, 0);
	assert.equal(matchesIn(matcherOf({ text: "x*", regex: true, matchCase: false }).matcher, "axxb").length, 1);
	assert.equal(matchesIn(matcherOf({ text: "a", regex: false, matchCase: true }).matcher, "a".repeat(5000)).length, 1000);
});

function host(log: LogBytes, content: Uint8Array) {
	const state = { pauses: 0, loads: 0, time: 0 };
	const load = async (block: number) => {
		state.loads += 1;
		return log.restore(block, content.slice(block * blockBytes, (block + 1) * blockBytes));
	};
	const pause = async () => {
		state.pauses += 1;
	};
	return { state, load, pause, now: () => (state.time += 0.5) };
}

test("a scan reads each line once, in slices, also of dropped blocks, and goes on when the log grows", async () => {
	const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i} ${"-".repeat(i % 90)}`);
	const content = encode(lines.join("\n"));
	const log = new LogBytes(4);
	log.append(content.subarray(0, 5_500_000));
	const hosted = host(log, content);
	const seen: string[] = [];
	const visit = (line: number, text: string) => {
		assert.equal(line, seen.length);
		seen.push(text);
		return line % 1000 === 0 ? [line] : [];
	};
	const scan = new Scan(log, visit, hosted);
	let progress = 0;
	await scan.advance(log.completeLines, () => {
		progress += 1;
	});
	assert.equal(scan.next, log.completeLines);
	log.append(content.subarray(5_500_000));
	await scan.advance(log.lineCount, () => {});
	assert.deepEqual(seen, lines);
	assert.equal(scan.found.length, 100);
	assert.ok(progress > 2 && hosted.state.pauses > 2 && hosted.state.loads > 0);
});

test("a scan stops when it is told to, when it has found too much, and when bytes are gone", async () => {
	const log = new LogBytes(4);
	const content = encode("x\n".repeat(4 * blockBytes));
	log.append(content.subarray(0, 200_000));
	const all = new Scan(log, (line) => [line], host(log, content));
	await all.advance(100_000, () => {});
	assert.deepEqual([all.found.length, all.full], [100_000, false]);
	log.append(content.subarray(200_000));
	await all.advance(log.completeLines, () => {});
	assert.deepEqual([all.found.length, all.full], [100_000, true]);
	const stopped = new Scan(log, () => [], host(log, content));
	stopped.stop();
	await stopped.advance(log.completeLines, () => assert.fail());
	assert.equal(stopped.next, 0);
	const gone = new Scan(log, () => [], { ...host(log, content), load: async () => false });
	await gone.advance(log.completeLines, () => {});
	assert.ok(gone.next < log.completeLines);
});
