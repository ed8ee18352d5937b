// SPDX-License-Identifier: MPL-2.0
// The bytes of a log as plain text. The worker frames a log with the characters STX and ETX.

const stx = 0x02;
const etx = 0x03;

// escapes: sequences that begin with ESC: CSI (colours, cursor), OSC up to BEL or ST, and others of two characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: logs have them
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g;

// lineShown: the message of a line of JSON, or the line. Of a line that was overwritten, the last text remains.
export function lineShown(line: string): string {
	if (line.startsWith("{")) {
		try {
			const message = JSON.parse(line)["@message"];
			if (typeof message === "string") {
				return message;
			}
		} catch {}
	}
	const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
	return last.replace(escapes, "");
}

// LogText turns ranges of bytes, in their order, into text. An incomplete last line waits for the next range.
export class LogText {
	readonly #decoder = new TextDecoder("utf-8");
	#rest = "";
	ended = false;

	add(bytes: Uint8Array): string {
		this.ended ||= bytes.includes(etx);
		const plain = bytes.filter((byte) => byte !== stx && byte !== etx);
		const lines = (this.#rest + this.#decoder.decode(plain, { stream: true })).split("\n");
		this.#rest = lines.pop() ?? "";
		const last = this.ended && this.#rest ? lineShown(this.#rest) : "";
		if (this.ended) {
			this.#rest = "";
		}
		return lines.map((line) => `${lineShown(line)}\n`).join("") + last;
	}
}
