// SPDX-License-Identifier: MPL-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { logPartOf, positionsAfter } from "./event_stream.ts";
import type { LogPart, StreamEvent } from "./messages.ts";
import { Parser } from "./parser.ts";
import { concerns, isTopic, maxTopics, TopicSet } from "./topics.ts";

const id = (prefix: string, letter: string) => `${prefix}-${letter.repeat(16)}`;
const run = (letter: string) => `run:${id("run", letter)}`;
const event = (name: string, data: Record<string, unknown>): StreamEvent => ({ name, data });

test("events are parsed wherever the text is divided", () => {
	const text = 'retry: 2000\n\n:\n\nevent: run\ndata: {"id":\ndata: 1}\nid: 4-5\n\nevent: online\r\nid: 6\r\ndata: {}\r\n\r\n';
	for (const size of [1, 2, 7, text.length]) {
		const parser = new Parser();
		const frames = [];
		for (let at = 0; at < text.length; at += size) {
			frames.push(...parser.push(text.slice(at, at + size)));
		}
		assert.deepEqual(frames, [
			{ name: "run", id: "4-5", data: '{"id":\n1}' },
			{ name: "online", id: "6", data: "{}" },
		]);
	}
});

test("a line without an end is refused", () => {
	assert.throws(() => new Parser().push("x".repeat((1 << 20) + 1)));
});

test("parts of logs are bytes, and a byte order mark stays", () => {
	assert.deepEqual([...logPartOf({ id: "a", offset: 3, base64: "/wA=" }).bytes], [255, 0]);
	assert.deepEqual([...logPartOf({ id: "a", offset: 3, text: "\ufeffé" }).bytes], [0xef, 0xbb, 0xbf, 0xc3, 0xa9]);
	assert.deepEqual(logPartOf({ id: "a", offset: 3, ended: true }), { id: "a", offset: 3, bytes: new Uint8Array(), ended: true });
});

test("only topics that the server takes are sent", () => {
	const good = ["site", "org:acme_1-x", `workspace:${id("ws", "b")}`, run("C"), `log:${id("apply", "d")}@12`];
	const bad = ["org:", "org:a,site", "org:/organizations/acme", "run:run-1", `log:${id("plan", "a")}`, `${run("a")}@1`, ""];
	assert.deepEqual([...good, ...bad].filter(isTopic), good);
});

test("an event concerns the topics of its objects, and bytes only their log", () => {
	const data = { id: id("run", "a"), workspace: id("ws", "w") };
	const yes = ["site", "org:acme", run("a"), `workspace:${id("ws", "w")}`];
	const log = `log:${id("plan", "a")}@5`;
	assert.deepEqual(
		[...yes, run("b"), log].filter((topic) => concerns(topic, event("run", data))),
		yes,
	);
	assert.ok(concerns(run("a"), event("stage", { run: id("run", "a") })));
	assert.deepEqual(
		[...yes, log].filter((topic) => concerns(topic, event("log", { id: id("plan", "a") }))),
		[log],
	);
	assert.deepEqual(
		[...yes, log].filter((topic) => concerns(topic, event("denied", { topic: run("a") }))),
		[run("a")],
	);
});

test("the set has the topics of all pages once, the widest first, and ends with them", () => {
	const set = new TopicSet<string>();
	set.put("one", [run("a"), "org:acme"]);
	set.put("two", [run("a"), "site", "wrong"]);
	assert.deepEqual(set.list(), ["site", "org:acme", run("a")]);
	assert.deepEqual(set.added("two", [run("a"), run("b")]), [run("b")]);
	assert.deepEqual(set.receivers(event("run", { id: id("run", "b") })), ["one", "two"]);
	set.delete("one");
	assert.deepEqual(set.list(), ["site", run("a")]);
	set.delete("two");
	assert.deepEqual(set.list(), []);
});

test("topics beyond the stream's bound are left for polling", () => {
	const set = new TopicSet<string>();
	const many = Array.from({ length: maxTopics + 2 }, (_, i) => run(String.fromCharCode(65 + i + (i > 25 ? 6 : 0))));
	set.put("one", [...many, "org:acme"]);
	assert.equal(set.list().length, maxTopics);
	assert.equal(set.list()[0], "org:acme");
	assert.equal(set.left().length, 3);
});

test("a log continues where it was received to, and a page that is behind learns it", () => {
	const set = new TopicSet<string>();
	const plan = id("plan", "a");
	const part = (offset: number, text: string, ended = false): LogPart => ({
		id: plan,
		offset,
		bytes: new TextEncoder().encode(text),
		ended,
	});
	assert.deepEqual(set.put("one", [`log:${plan}@10`]), []);
	set.received(part(10, "12345"));
	assert.deepEqual(set.list(), [`log:${plan}@15`]);
	assert.deepEqual(set.put("two", [`log:${plan}@0`]), [part(15, "")]);
	assert.deepEqual(set.put("two", [`log:${plan}@15`]), []);
	set.received(part(15, "6", true));
	assert.deepEqual(set.list(), []);
	assert.deepEqual(set.put("three", [`log:${plan}@0`]), [part(16, "", true)]);
	for (const page of ["one", "two", "three"]) {
		set.delete(page);
	}
	assert.deepEqual(set.put("one", [`log:${plan}@2`]), []);
	assert.deepEqual(set.list(), [`log:${plan}@2`]);
});

test("a stream continues from the newest position that is some seconds old", () => {
	const positions = [1000, 2000, 5000].map((at) => ({ id: String(at), at }));
	const first = (now: number) => positionsAfter(positions, now)[0]?.id;
	assert.deepEqual([first(2000), first(4500), first(5100), first(9000)], ["1000", "1000", "2000", "5000"]);
	assert.deepEqual(positionsAfter([], 5), []);
});
