// SPDX-License-Identifier: MPL-2.0
// Keys of the pages. Each key is a row of this table; the sheet (?) lists the rows. No key has consequences.

import { keyboardOn } from "../core/preferences.ts";

export type KeyRow = { readonly keys: string; readonly word: string };

export const keys: readonly KeyRow[] = [
	{ keys: "?", word: "Show the keys" },
	{ keys: "/", word: "Search workspaces" },
	{ keys: "g w", word: "Go to workspaces" },
	{ keys: "g r", word: "Go to runs" },
	{ keys: "g q", word: "Go to the queue" },
	{ keys: "g s", word: "Go to settings" },
	{ keys: "j", word: "Next row" },
	{ keys: "k", word: "Previous row" },
	{ keys: "u", word: "Up one level" },
	{ keys: "n", word: "Next problem" },
	{ keys: "a", word: "Focus Confirm & Apply" },
];

const sequenceMs = 1200;

// Sequence joins the keys that are pressed shortly after each other: "g" and "w" are "g w".
export class Sequence {
	#first = "";
	#at = Number.NEGATIVE_INFINITY;

	press(key: string, now: number): string {
		const pressed = this.#first && now - this.#at <= sequenceMs ? `${this.#first} ${key}` : key;
		const begins = pressed === key && keys.some((row) => row.keys.startsWith(`${key} `));
		this.#first = begins ? key : "";
		this.#at = now;
		return begins ? "" : pressed;
	}
}

function inInput(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

// keysStart calls onKeys with each complete sequence, unless an input has the focus or a dialog is open.
export function keysStart(onKeys: (keys: string) => boolean): () => void {
	const sequence = new Sequence();
	const pressed = (event: KeyboardEvent) => {
		if (
			!keyboardOn() ||
			event.ctrlKey ||
			event.metaKey ||
			event.altKey ||
			inInput(event.target) ||
			document.querySelector("dialog[open]")
		) {
			return;
		}
		const complete = sequence.press(event.key, event.timeStamp);
		if (complete && onKeys(complete)) {
			event.preventDefault();
		}
	};
	document.addEventListener("keydown", pressed);
	return () => document.removeEventListener("keydown", pressed);
}

function step(list: readonly HTMLElement[], by: number): boolean {
	const at = list.indexOf(document.activeElement as HTMLElement);
	const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : (at + by + list.length) % list.length];
	next?.focus();
	return next !== undefined;
}

const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];

// Actions that are the same on all pages.
export const pageKeys: Readonly<Record<string, () => boolean>> = {
	"/": () => step(all("#search"), 1),
	j: () => step(all(".row-link"), 1),
	k: () => step(all(".row-link"), -1),
	n: () => step(all("[data-problem]"), 1),
	a: () => step(all("#confirm-apply"), 1),
	u: () => {
		const up = all(".breadcrumb a").at(-1);
		up?.click();
		return up !== undefined;
	},
};
