// SPDX-License-Identifier: MPL-2.0

const longest = 120;

// excerpt: the first words of a Markdown text on one line.
export function excerpt(message: string): string {
	const line = message
		.slice(0, 10 * longest)
		.replace(/\s+/g, " ")
		.trim();
	return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
