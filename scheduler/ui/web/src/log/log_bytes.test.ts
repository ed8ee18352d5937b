// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { blockBytes, decode, isMissing, LogBytes, lineLimit } from "./log_bytes.ts";
import { LogReader } from "./log_reader.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function lineText(log: LogBytes, line: number): string {
	const read = log.line(line);
	return isMissing(read) ? `missing ${read.missing}` : decode(read.bytes);
}

function allTexts(log: LogBytes): string[] {
	const all: string[] = [];
	for (let i = 0; i < log.blockCount; i++) {
		const read = log.texts(i);
		assert.ok(!isMissing(read));
		assert.ok(read.texts.length === 0 || read.first === all.length);
		all.push(...read.texts);
	}
	return all;
}

test("lines grow with the bytes, and characters may be split between reads", () => {
	const log = new LogBytes();
	const bytes = encode("\u0002one\ntwö\nthree\u0003");
	for (const byte of bytes) {
		log.append(Uint8Array.of(byte));
	}
	assert.deepEqual([log.length, log.completeLines, log.lineCount, log.endsWithEtx], [bytes.length, 2, 3, true]);
	assert.deepEqual(allTexts(log), ["\u0002one", "twö", "three\u0003"]);
});

test("STX and ETX alone are no line", () => {
	const log = new LogBytes();
	assert.equal(log.lineCount, 0);
	log.append(encode("\u0002"));
	assert.equal(log.lineCount, 0);
	log.append(encode("\u0003"));
	assert.equal(log.lineCount, 0);
	const ended = new LogBytes();
	ended.append(encode("\u0002a\n\u0003"));
	assert.equal(ended.lineCount, 1);
	assert.deepEqual(allTexts(ended), ["\u0002a"]);
});

test("lines that cross blocks are whole, for each place of the border", () => {
	for (let shift = 0; shift < 6; shift++) {
		const lines = ["x".repeat(blockBytes - 3 + shift), "åb", "", "last"];
		const log = new LogBytes();
		log.append(encode(lines.join("\n")));
		assert.equal(log.lineCount, 4);
		assert.deepEqual([lineText(log, 1), lineText(log, 2), lineText(log, 3)], ["åb", "", "last"]);
		assert.deepEqual(
			allTexts(log).map((text) => text.length),
			[lineLimit, 2, 0, 4],
		);
	}
});

test("a line of three blocks is counted once and shown with a bound", () => {
	const log = new LogBytes();
	log.append(encode(`first\n${"y".repeat(2 * blockBytes)}\nlast`));
	assert.equal(log.lineCount, 3);
	const read = log.line(1);
	assert.ok(!isMissing(read));
	assert.deepEqual([read.bytes.length, read.left], [lineLimit, 2 * blockBytes - lineLimit]);
	assert.deepEqual(
		allTexts(log).map((text) => text.length),
		[5, lineLimit, 4],
	);
});

test("of a long line with carriage returns, the last text is kept", () => {
	const log = new LogBytes();
	log.append(encode(`${"progress\r".repeat(20_000)}done\r\nnext`));
	assert.equal(lineText(log, 0), "done\r");
});

test("invalid UTF-8 is shown as replacement characters and eats no newline", () => {
	const log = new LogBytes();
	log.append(Uint8Array.of(0xff, 0xc3, 10, 0xe2, 0x82, 10, 0xed, 0xa0, 0x80, 10, 0x61));
	assert.equal(log.lineCount, 4);
	assert.deepEqual(allTexts(log), ["\ufffd\ufffd", "\ufffd", "\ufffd\ufffd\ufffd", "a"]);
	assert.deepEqual(
		[0, 1, 2, 3].map((line) => lineText(log, line)),
		allTexts(log),
	);
});

test("dropped blocks keep their lines' numbers and are restored only with the same bytes", () => {
	const log = new LogBytes(4);
	const line = `${"z".repeat(1023)}\n`;
	const block = encode(line.repeat(1024));
	for (let i = 0; i < 8; i++) {
		log.append(block);
	}
	assert.equal(log.lineCount, 8 * 1024);
	assert.ok(log.blocksLoaded <= 4);
	assert.deepEqual(log.line(0), { missing: 0 });
	assert.deepEqual(log.texts(0), { missing: 0 });
	assert.equal(log.restore(0, block.subarray(1)), false);
	assert.equal(log.restore(0, new Uint8Array(block.length)), false);
	assert.equal(log.restore(99, block), false);
	assert.equal(log.restore(0, block), true);
	assert.equal(lineText(log, 0), "z".repeat(1023));
	assert.ok(log.blocksLoaded <= 4);
});

test("random logs in small blocks have the lines of the whole text, also with dropped blocks", () => {
	let seed = 1;
	const random = (below: number) => {
		seed = (seed * 1103515245 + 12345) % 2147483648;
		return Math.floor((seed / 2147483648) * below);
	};
	for (let round = 0; round < 2000; round++) {
		const content = Uint8Array.from({ length: random(120) }, () => [10, 10, 13, 65, 66, 0xc3, 0xa5][random(7)] ?? 0);
		const log = new LogBytes(4, 1 + random(12));
		for (let at = 0; at < content.length; ) {
			const size = 1 + random(30);
			log.append(content.subarray(at, at + size));
			at += size;
		}
		const restore = <T extends object>(read: () => T): T => {
			for (let tries = 0; ; tries++) {
				const result = read();
				if (!isMissing(result) || tries > 50) {
					return result;
				}
				const from = result.missing * log.blockSize;
				assert.ok(log.restore(result.missing, content.slice(from, from + log.blockSize)));
			}
		};
		const lines = decode(content).split("\n");
		const expected = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
		assert.equal(log.lineCount, expected.length);
		const shown = expected.map((_, line) => {
			const read = restore(() => log.line(line));
			return isMissing(read) ? (isTooLong(expected[line] ?? "", log) ? expected[line] : "missing") : decode(read.bytes);
		});
		assert.deepEqual(shown, expected);
	}
});

// A line that needs more blocks than are kept can't be whole. A character here has at most two bytes.
const isTooLong = (text: string, log: LogBytes) => text.length + 1 > log.blockSize;

// A log on a server that gives ranges, with failures in between.
function server(content: Uint8Array, limit: number) {
	const state = { content, ended: false, failures: 0, reads: 0 };
	const range = async (offset: number, most: number) => {
		state.reads += 1;
		if (state.failures > 0) {
			state.failures -= 1;
			throw new Error("connection lost");
		}
		return state.content.slice(offset, offset + Math.min(most, limit));
	};
	return { state, source: { range, hasEnded: () => state.ended } };
}

test("a reader follows a growing log, goes on after an interruption and ends with the operation", async () => {
	const { state, source } = server(encode("\u0002a\nb"), 2);
	let changes = 0;
	const reader = new LogReader(source, () => {
		changes += 1;
	});
	await reader.read();
	assert.deepEqual([reader.state, reader.bytes.length], ["live", 4]);
	state.failures = 1;
	state.content = encode("\u0002a\nb\nc\u0003 not the end\n");
	await reader.read();
	assert.equal(reader.state, "interrupted");
	await reader.read();
	assert.deepEqual([reader.state, reader.bytes.length], ["live", state.content.length]);
	state.ended = true;
	await reader.read();
	assert.equal(reader.state, "ended");
	const reads = state.reads;
	await reader.read();
	assert.equal(state.reads, reads);
	assert.ok(changes > 5);
});

test("a reader reads a dropped block again, once at a time, and refuses other bytes", async () => {
	const content = encode(`${"q".repeat(63)}\n`.repeat((8 * blockBytes) / 64));
	const { state, source } = server(content, 700_000);
	const reader = new LogReader(source, () => {}, new LogBytes(4));
	await reader.read();
	const reads = state.reads;
	assert.deepEqual(await Promise.all([reader.load(0), reader.load(0)]), [true, true]);
	assert.equal(state.reads, reads + 2);
	assert.equal(lineText(reader.bytes, 0), "q".repeat(63));
	state.content = encode("This log was deleted.\n");
	assert.equal(await reader.load(1), false);
});
