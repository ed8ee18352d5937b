// SPDX-License-Identifier: MPL-2.0
// One side of an attribute as text. The words in brackets are never a value of the user: those are in quotes.

import type { Json } from "./summary.ts";
import type { Side } from "./tree.ts";

export const maxShown = 20_000; // characters of a value

export function valueText(value: Json): string {
	const text = typeof value === "string" ? JSON.stringify(value) : value === null ? "null" : JSON.stringify(value);
	return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

const words: Readonly<Record<string, string>> = { absent: "", unknown: "(known after apply)" };

export function sideText(side: Side): string {
	if (side.kind === "value") {
		return valueText(side.value);
	}
	return side.kind === "sensitive" ? (side.changed ? "(sensitive, changed)" : "(sensitive)") : (words[side.kind] ?? "");
}

// isLong: a text that is compared line by line.
export function isLong(side: Side): side is { readonly kind: "value"; readonly value: string } {
	return side.kind === "value" && typeof side.value === "string" && (side.value.includes("\n") || side.value.length > 120);
}
