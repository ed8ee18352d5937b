// SPDX-License-Identifier: MPL-2.0
// How far an apply is, from its lines of JSON: "apply: 40 of 120, 1 failed". Such a log begins with each planned
// change.

export class ApplyProgress {
	#planned = 0;
	#done = 0;
	#failed = 0;

	line(text: string): void {
		if (!text.startsWith("{") || !/"type":"(?:planned_change|apply_complete|apply_errored)"/.test(text)) {
			return;
		}
		try {
			const type = (JSON.parse(text) as Readonly<Record<string, unknown>>).type;
			this.#planned += type === "planned_change" ? 1 : 0;
			this.#done += type === "apply_complete" ? 1 : 0;
			this.#failed += type === "apply_errored" ? 1 : 0;
		} catch {}
	}

	// "" while there is nothing to say.
	text(): string {
		const ended = this.#done + this.#failed;
		if (this.#planned === 0 && ended === 0) {
			return "";
		}
		const of = this.#planned >= ended ? ` of ${this.#planned}` : "";
		return `apply: ${ended}${of}${this.#failed > 0 ? `, ${this.#failed} failed` : ""}`;
	}
}
