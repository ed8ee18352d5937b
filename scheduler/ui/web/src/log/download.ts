// SPDX-License-Identifier: MPL-2.0
// Saves a log as a file, from ranges that the browser keeps out of the page's memory.

import { blockBytes } from "./log_bytes.ts";
import type { LogSource } from "./log_reader.ts";

// framed: the bytes without the stream's STX at its start and ETX at its end.
export function unframed(part: Uint8Array, isFirst: boolean, isLast: boolean): Uint8Array {
	const from = isFirst && part[0] === 2 ? 1 : 0;
	const to = isLast && part.at(-1) === 3 ? part.length - 1 : part.length;
	return part.subarray(from, to);
}

export async function logBlob(source: LogSource): Promise<Blob> {
	const parts: Blob[] = [];
	let last: Uint8Array | undefined;
	for (let offset = 0; ; ) {
		const part = await source.range(offset, blockBytes);
		if (last) {
			parts.push(new Blob([unframed(last, parts.length === 0, part.length === 0) as Uint8Array<ArrayBuffer>]));
		}
		if (part.length === 0) {
			return new Blob(parts, { type: "text/plain" });
		}
		offset += part.length;
		last = part;
	}
}

export function save(blob: Blob, name: string): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
