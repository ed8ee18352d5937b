// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { LogTail } from "../log/tail.ts";
import { coalesced, inTurn } from "./coalesce.ts";

const encode = (text: string) => new TextEncoder().encode(text);

test("events that come together lead to a call at once and one with the last of them", async () => {
	const calls: number[] = [];
	const ended = new Promise<void>((done) => {
		const events = coalesced<number>(
			(value) => {
				calls.push(value);
				if (value === 3) {
					done();
				}
			},
			() => 5,
		);
		events.put(1);
		events.put(2);
		events.put(3);
		assert.deepEqual(calls, [1]);
	});
	await ended;
	assert.deepEqual(calls, [1, 3]);
});

test("the interval grows while events come, and is short again after a pause", async () => {
	const intervals: number[] = [];
	const calls: number[] = [];
	const events = coalesced<number>(
		(value) => {
			calls.push(value);
			if (value < 3) {
				events.put(value + 1);
			}
		},
		(busy) => intervals.push(busy),
	);
	const until = async (count: number) => {
		while (calls.length < count) {
			await new Promise((resume) => setTimeout(resume, 1));
		}
	};
	events.put(1);
	await until(3);
	await new Promise((resume) => setTimeout(resume, 50));
	events.put(9);
	assert.deepEqual(calls, [1, 2, 3, 9]);
	assert.deepEqual(intervals, [0, 1, 2, 0]);
	events.stop();
});

test("calls during a call lead to one more after it", async () => {
	const ends: (() => void)[] = [];
	const read = inTurn(() => new Promise<void>((end) => ends.push(end)));
	const first = read();
	assert.equal(first, read());
	await Promise.resolve();
	assert.equal(ends.length, 1);
	const second = read();
	assert.notEqual(second, first);
	assert.equal(second, read());
	assert.equal(ends.length, 1);
	ends[0]?.();
	await first;
	while (ends.length < 2) {
		await Promise.resolve();
	}
	ends[1]?.();
	await second;
	assert.equal(ends.length, 2);
});

// A log of the server, whose ranges have at most 4 bytes, and the text that the tail gives.
function follow(log: { text: string; fails?: boolean }, offset = 0) {
	const got = { text: "", ended: false, reads: 0 };
	const tail = new LogTail(
		offset,
		(bytes, ended) => {
			got.text += new TextDecoder().decode(bytes);
			got.ended ||= ended;
		},
		async (at) => {
			got.reads += 1;
			if (log.fails) {
				throw new Error("away");
			}
			return encode(log.text.slice(at, at + 4));
		},
	);
	const part = (at: number, text: string, ended = false) => tail.part({ id: "plan-a", offset: at, bytes: encode(text), ended });
	return { got, tail, part };
}

test("a tail takes parts in order, each byte once", async () => {
	const { got, part } = follow({ text: "0123456789" });
	await part(0, "012");
	await part(1, "1234");
	await part(0, "01");
	await part(5, "56789", true);
	assert.deepEqual(got, { text: "0123456789", ended: true, reads: 0 });
});

test("a tail reads what lies between two parts", async () => {
	const log = { text: "0123456789", fails: false };
	const { got, tail, part } = follow(log);
	await part(0, "01");
	await part(8, "89");
	assert.equal(got.text, "0123456789");
	log.text += "ab";
	log.fails = true;
	await part(11, "b", true);
	assert.equal(got.text, "0123456789");
	log.fails = false;
	await tail.catchUp();
	assert.deepEqual([got.text, got.ended], ["0123456789ab", true]);
});

test("parts that come during a read are neither lost nor doubled", async () => {
	const log = { text: "0123456789" };
	const { got, tail, part } = follow(log);
	const reading = tail.catchUp();
	await Promise.resolve();
	log.text += "abcdef";
	void part(10, "abc");
	void part(13, "def", true);
	await reading;
	assert.deepEqual([got.text, got.ended], ["0123456789abcdef", true]);
});
