// SPDX-License-Identifier: MPL-2.0
// One line of a log as it is shown: the message of a line of JSON, or the text.

import { none } from "./scan.ts";
import { hasControls, lastSegment, plainText, type Span, spansOf, withoutControls } from "./sgr.ts";

export type Level = "" | "info" | "warn" | "error";
export type Line = {
	readonly spans: readonly Span[];
	readonly level: Level;
	readonly time: number | undefined; // milliseconds
	readonly left: number; // characters that are not shown
};

const charactersShown = 8192;
const levels: Readonly<Record<string, Level>> = { info: "info", warn: "warn", warning: "warn", error: "error" };

export type Message = { readonly text: string; readonly level: Level; readonly time: number | undefined };

function timeOf(value: unknown): number | undefined {
	const time = typeof value === "string" && value.length < 64 ? Date.parse(value) : Number.NaN;
	return Number.isNaN(time) ? undefined : time;
}

// messageOf: of a line of JSON with "@message"; undefined for any other line.
export function messageOf(line: string): Message | undefined {
	if (!line.startsWith("{") || !line.includes('"@message"')) {
		return undefined;
	}
	try {
		const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
		const text = value["@message"];
		if (typeof text !== "string") {
			return undefined;
		}
		const level = levels[String(value["@level"])] ?? "";
		return { text: text.replaceAll("\n", " ⏎ "), level, time: timeOf(value["@timestamp"]) };
	} catch {
		return undefined;
	}
}

const withoutStx = (text: string) => (text.charCodeAt(0) === 2 ? text.slice(1) : text);

// The start of what terraform writes, so that most lines need no parser. The message has no escapes.
const common = /^\{"@level":"(\w{1,8})","@message":"([^"\\]*)"[,}]/;

// searchedText: the text of a line as it is shown, for searches. Most lines are shown as they are.
export function searchedText(raw: string): string {
	if (raw[0] !== "{" && !hasControls(raw)) {
		return raw;
	}
	const line = lastSegment(withoutStx(raw));
	if (line.startsWith("{")) {
		const short = common.exec(line);
		if (short && line.endsWith("}")) {
			return plainText(short[2] ?? "");
		}
		return plainText(messageOf(line)?.text ?? line);
	}
	return plainText(line);
}

// levelOf: of a line of JSON. Errors in texts are boxes (ErrorLines).
export function levelOf(raw: string): Level {
	if (!raw.includes('"@level"')) {
		return "";
	}
	return messageOf(lastSegment(withoutStx(raw)))?.level ?? "";
}

const textTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d))/;

function cut(text: string): { shown: string; left: number } {
	return text.length <= charactersShown
		? { shown: text, left: 0 }
		: { shown: text.slice(0, charactersShown), left: text.length - charactersShown };
}

// lineOf: `raw` shows a line as it is, with its control characters as pictures.
export function lineOf(text: string, raw: boolean): Line {
	const { shown: start, left } = cut(raw ? text : lastSegment(text));
	if (raw) {
		return { spans: [{ text: pictures(start), classes: "", href: "" }], level: "", time: undefined, left };
	}
	const message = left === 0 ? messageOf(withoutStx(start)) : messageOf(lastSegment(text));
	const shown = cut(message?.text ?? start);
	const time = message ? message.time : timeOf(textTime.exec(start)?.[1]);
	return { spans: spansOf(shown.shown), level: message?.level ?? "", time, left: message ? shown.left : left };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: logs have them
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g;

const pictureOf = (control: string) => (control === "\x7f" ? "\u2421" : String.fromCharCode(0x2400 + control.charCodeAt(0)));

// pictures: control characters as visible ones, but STX and ETX, which frame the log.
export function pictures(text: string): string {
	return withoutControls(text.replaceAll("\x02", "").replaceAll("\x03", "").replace(controls, pictureOf));
}

// ErrorLines finds the lines of errors, in their order. terraform frames a diagnostic: "╷", then lines with "│", "╵".
export class ErrorLines {
	#box: number[] | undefined;
	#isError = false;

	// Returns the lines that turn out to belong to an error.
	next(number: number, raw: string): readonly number[] {
		if (raw.includes('"@level"')) {
			return levelOf(raw) === "error" ? [number] : none;
		}
		const text = searchedText(raw).trim();
		if (text.startsWith("╷")) {
			this.#box = [number];
			this.#isError = false;
			return none;
		}
		if (!this.#box) {
			return /^(?:│ )?Error:/.test(text) ? [number] : none;
		}
		return this.#inBox(number, text);
	}

	#inBox(number: number, text: string): readonly number[] {
		const box = this.#box ?? [];
		this.#isError ||= /^│\s*Error:/.test(text);
		if (text.startsWith("│") && box.length < 1000) {
			box.push(number);
			return none;
		}
		this.#box = undefined;
		if (text.startsWith("╵")) {
			box.push(number);
		}
		return this.#isError ? box : none;
	}
}
