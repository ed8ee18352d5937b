// SPDX-License-Identifier: MPL-2.0
// The document's title and icon, which follow the state of what is shown.

import { useEffect } from "preact/hooks";
import type { Tone } from "./status.ts";

const colors: Readonly<Record<Tone, string>> = {
	muted: "#57606a",
	running: "#0b5cad",
	wait: "#8a5a00",
	success: "#1a6b33",
	failure: "#b3261e",
};

export function titleOf(parts: readonly string[], state = ""): string {
	return [...(state ? [`● ${state}`] : []), ...parts, "Runyard"].join(" · ");
}

function iconOf(tone: Tone | undefined): string {
	const dot = tone ? `<circle cx="25" cy="25" r="7" fill="${colors[tone]}" stroke="#fff" stroke-width="2"/>` : "";
	return `data:image/svg+xml,${encodeURIComponent(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5cad"/><path d="M9 24V8h8a5 5 0 0 1 1.5 9.8L23 24M9 18h8" fill="none" stroke="#fff" stroke-width="3"/>${dot}</svg>`,
	)}`;
}

// useTitle: parts from the most specific to the least; state and tone of a run in progress.
export function useTitle(parts: readonly string[], state = "", tone?: Tone): void {
	const title = titleOf(parts, state);
	useEffect(() => {
		document.title = title;
		const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
		if (link) {
			link.href = iconOf(tone);
		}
	}, [title, tone]);
}
