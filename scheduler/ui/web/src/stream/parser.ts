// SPDX-License-Identifier: MPL-2.0
// Server-sent events from the text of a stream.

export type Frame = { readonly name: string; readonly id: string | undefined; readonly data: string };

const longestLine = 1 << 20;

export class Parser {
	#rest = "";
	#name = "";
	#id: string | undefined;
	#data: string[] = [];

	// push returns the events that are complete with this text. It throws if a line is too long.
	push(text: string): Frame[] {
		const lines = (this.#rest + text).split("\n");
		this.#rest = lines.pop() ?? "";
		if (this.#rest.length > longestLine) {
			throw new Error("a line of the event stream is too long");
		}
		return lines.flatMap((line) => this.#line(line.replace(/\r$/, "")));
	}

	#line(line: string): Frame[] {
		if (line === "") {
			return this.#end();
		}
		const colon = line.indexOf(":");
		const field = colon < 0 ? line : line.slice(0, colon);
		const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
		if (field === "event") {
			this.#name = value;
		} else if (field === "id") {
			this.#id = value;
		} else if (field === "data") {
			this.#data.push(value);
		}
		return [];
	}

	#end(): Frame[] {
		const frame = { name: this.#name || "message", id: this.#id, data: this.#data.join("\n") };
		const none = this.#data.length === 0;
		this.#name = "";
		this.#id = undefined;
		this.#data = [];
		return none ? [] : [frame];
	}
}
