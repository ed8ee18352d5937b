// SPDX-License-Identifier: MPL-2.0
// Terminal text as spans with classes. Logs are hostile: of all escape sequences only colours, bold, underline, dim,
// italic and links have an effect, and each colour becomes one of the page's tokens.

import { linkParts, safeUrl } from "../core/links.ts";

export type Span = { readonly text: string; readonly classes: string; readonly href: string };

type Style = { color: string; back: string; bold: boolean; dim: boolean; italic: boolean; underline: boolean; href: string };

const plainStyle = (): Style => ({ color: "", back: "", bold: false, dim: false, italic: false, underline: false, href: "" });

const esc = "\x1b";

// ---- sequences ----

type Sequence = { readonly kind: "sgr" | "link" | "other"; readonly value: string; readonly end: number };

const between = (code: number, low: number, high: number) => code >= low && code <= high;

function controlSequence(text: string, from: number): Sequence {
	let at = from + 2;
	while (between(text.charCodeAt(at), 0x30, 0x3f)) {
		at += 1;
	}
	const parameters = text.slice(from + 2, at);
	const plain = between(text.charCodeAt(at), 0x40, 0x7e);
	while (between(text.charCodeAt(at), 0x20, 0x2f)) {
		at += 1;
	}
	const complete = between(text.charCodeAt(at), 0x40, 0x7e);
	const isStyle = plain && text[at] === "m" && /^[\d;:]*$/.test(parameters);
	return { kind: isStyle ? "sgr" : "other", value: parameters, end: complete ? at + 1 : at };
}

// The next BEL and ST from a place on. They are kept, so that many strings without an end take a linear time.
type Ends = { bell: number; st: number };

function nextOf(known: number, text: string, wanted: string, from: number): number {
	const next = known >= from ? known : text.indexOf(wanted, from);
	return next < 0 ? Number.POSITIVE_INFINITY : next;
}

// A string ends with BEL or ST. Of one without an end, only its first two characters are dropped.
function stringSequence(text: string, from: number, ends: Ends): Sequence {
	ends.bell = nextOf(ends.bell, text, "\x07", from + 2);
	ends.st = nextOf(ends.st, text, `${esc}\\`, from + 2);
	const end = Math.min(ends.bell, ends.st);
	if (end === Number.POSITIVE_INFINITY) {
		return { kind: "other", value: "", end: from + 2 };
	}
	const link = text[from + 1] === "]" ? /^8;[^;]*;(.*)$/s.exec(text.slice(from + 2, end)) : null;
	return { kind: link ? "link" : "other", value: link?.[1] ?? "", end: end === ends.bell ? end + 1 : end + 2 };
}

function sequenceAt(text: string, from: number, ends: Ends): Sequence {
	const next = text[from + 1] ?? "";
	if (next === "[") {
		return controlSequence(text, from);
	}
	if ("]PX^_".includes(next) && next) {
		return stringSequence(text, from, ends);
	}
	let at = from + 1;
	while (between(text.charCodeAt(at), 0x20, 0x2f)) {
		at += 1;
	}
	return { kind: "other", value: "", end: between(text.charCodeAt(at), 0x30, 0x7e) ? at + 1 : at };
}

// ---- colours ----

const basic = ["", "failure", "success", "wait", "running", "replace", "running", ""];

function tokenOfRgb(red: number, green: number, blue: number): string {
	const most = Math.max(red, green, blue);
	const least = Math.min(red, green, blue);
	const spread = most - least;
	if (spread < 40) {
		return most > 64 && most < 200 ? "muted" : "";
	}
	const sixth = most === red ? ((green - blue) / spread + 6) % 6 : most === green ? (blue - red) / spread + 2 : (red - green) / spread + 4;
	const hue = sixth * 60;
	const ends = [
		[20, "failure"],
		[75, "wait"],
		[165, "success"],
		[255, "running"],
		[330, "replace"],
	] as const;
	return ends.find(([end]) => hue < end)?.[1] ?? "failure";
}

function tokenOfIndex(index: number): string {
	if (index < 8) {
		return basic[index] ?? "";
	}
	if (index < 16) {
		return index === 8 ? "muted" : (basic[index - 8] ?? "");
	}
	if (index >= 232) {
		const grey = 8 + (index - 232) * 10;
		return tokenOfRgb(grey, grey, grey);
	}
	const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
	const cube = index - 16;
	return tokenOfRgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

const byte = (value: number | undefined) => Math.min(Math.max(value ?? 0, 0), 255);

// The token of 38 or 48 and what follows, and how many parameters it takes.
function extendedColor(values: readonly number[]): { token: string; taken: number } {
	if (values[0] === 5) {
		return { token: tokenOfIndex(byte(values[1])), taken: 2 };
	}
	if (values[0] === 2) {
		return { token: tokenOfRgb(byte(values[1]), byte(values[2]), byte(values[3])), taken: 4 };
	}
	return { token: "", taken: 1 };
}

// ---- styles ----

const switches: Readonly<Record<number, (style: Style) => void>> = {
	0: (style) => Object.assign(style, { ...plainStyle(), href: style.href }),
	1: (style) => Object.assign(style, { bold: true }),
	2: (style) => Object.assign(style, { dim: true }),
	3: (style) => Object.assign(style, { italic: true }),
	4: (style) => Object.assign(style, { underline: true }),
	21: (style) => Object.assign(style, { underline: true }),
	22: (style) => Object.assign(style, { bold: false, dim: false }),
	23: (style) => Object.assign(style, { italic: false }),
	24: (style) => Object.assign(style, { underline: false }),
	39: (style) => Object.assign(style, { color: "" }),
	49: (style) => Object.assign(style, { back: "" }),
};

function codeApply(style: Style, code: number): void {
	if (between(code, 30, 37) || between(code, 90, 97)) {
		style.color = tokenOfIndex(code < 90 ? code - 30 : code - 82);
	} else if (between(code, 40, 47) || between(code, 100, 107)) {
		style.back = tokenOfIndex(code < 100 ? code - 40 : code - 92);
	} else {
		switches[code]?.(style);
	}
}

// Parameters that colons join belong to one code: "38:2::1:2:3", "4:0".
function partApply(style: Style, part: string): void {
	const values = part.split(":").map(Number);
	const [code = 0, kind] = values;
	if (code === 4) {
		style.underline = kind !== 0;
		return;
	}
	if (code === 38 || code === 48) {
		const withSpace = kind === 2 && values.length > 5;
		const { token } = extendedColor([kind ?? 0, ...values.slice(withSpace ? 3 : 2)]);
		style[code === 38 ? "color" : "back"] = token;
	}
}

function styleApply(style: Style, parameters: string): void {
	const parts = parameters.split(";");
	for (let i = 0; i < parts.length; i++) {
		const part = parts[i] ?? "";
		const code = Number(part);
		if (part.includes(":")) {
			partApply(style, part);
		} else if (code === 38 || code === 48) {
			const { token, taken } = extendedColor(parts.slice(i + 1, i + 5).map(Number));
			style[code === 38 ? "color" : "back"] = token;
			i += taken;
		} else {
			codeApply(style, code);
		}
	}
}

// Text on a coloured background keeps the text's colour, whose contrast is known.
function classesOf(style: Style): string {
	const names = [style.back && `back-${style.back}`, style.back ? "" : style.color];
	names.push(style.dim && !style.color && !style.back ? "muted" : "");
	names.push(style.bold ? "bold" : "", style.italic ? "italic" : "", style.underline ? "underline" : "");
	return names.filter(Boolean).join(" ");
}

// ---- text ----

// Controls without a meaning here, and those that reorder text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: logs have them
const oneHidden = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const hidden = new RegExp(oneHidden, "g");

export function hasControls(text: string): boolean {
	return oneHidden.test(text);
}

export function withoutControls(text: string): string {
	return text.replace(hidden, "");
}

// lastSegment: what a terminal shows of a line that was written over.
export function lastSegment(line: string): string {
	let end = line.length;
	while (line[end - 1] === "\r") {
		end -= 1;
	}
	return line.slice(end === 0 ? 0 : line.lastIndexOf("\r", end - 1) + 1, end);
}

function walk(text: string, onText: (part: string) => void, onSequence: (sequence: Sequence) => void): void {
	const ends = { bell: -1, st: -1 };
	let at = 0;
	for (let next = text.indexOf(esc); next >= 0; next = text.indexOf(esc, at)) {
		onText(text.slice(at, next));
		const sequence = sequenceAt(text, next, ends);
		onSequence(sequence);
		at = sequence.end;
	}
	onText(text.slice(at));
}

export function spansOf(text: string): readonly Span[] {
	const spans: Span[] = [];
	const style = plainStyle();
	walk(
		text,
		(part) => {
			const shown = withoutControls(part);
			const classes = classesOf(style);
			for (const piece of style.href ? [{ text: shown, href: style.href }] : linkParts(shown)) {
				if (piece.text) {
					spans.push({ ...piece, classes });
				}
			}
		},
		(sequence) => {
			if (sequence.kind === "sgr") {
				styleApply(style, sequence.value);
			} else if (sequence.kind === "link") {
				style.href = safeUrl(sequence.value);
			}
		},
	);
	return spans;
}

// plainText: the text that spansOf shows.
export function plainText(text: string): string {
	if (!text.includes(esc)) {
		return withoutControls(text);
	}
	let plain = "";
	walk(
		text,
		(part) => {
			plain += part;
		},
		() => {},
	);
	return withoutControls(plain);
}
