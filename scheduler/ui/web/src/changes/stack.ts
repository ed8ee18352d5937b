// SPDX-License-Identifier: MPL-2.0
// Rows of different heights on top of each other, and which of them are in view.

export class Stack {
	readonly #ends: Float64Array;

	constructor(count: number, heightOf: (index: number) => number) {
		this.#ends = new Float64Array(count);
		let end = 0;
		for (let i = 0; i < count; i++) {
			end += heightOf(i);
			this.#ends[i] = end;
		}
	}

	get count(): number {
		return this.#ends.length;
	}

	get height(): number {
		return this.#ends.at(-1) ?? 0;
	}

	top(index: number): number {
		return index <= 0 ? 0 : (this.#ends[Math.min(index, this.count) - 1] ?? 0);
	}

	// at: the row at a position; the last one beyond the end.
	at(position: number): number {
		let low = 0;
		let high = Math.max(this.count - 1, 0);
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.#ends[middle] ?? 0) > position) {
				high = middle;
			} else {
				low = middle + 1;
			}
		}
		return low;
	}

	// rows: [first, last) for a view, with rows for `more` pixels on both sides.
	rows(scroll: number, view: number, more: number): { readonly first: number; readonly last: number } {
		return { first: this.at(Math.max(scroll - more, 0)), last: Math.min(this.at(scroll + view + more) + 1, this.count) };
	}
}
