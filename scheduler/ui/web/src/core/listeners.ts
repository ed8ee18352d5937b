// SPDX-License-Identifier: MPL-2.0
// Those who want to know of a change.

export class Listeners {
	readonly #all = new Set<() => void>();

	tell(): void {
		for (const listener of this.#all) {
			listener();
		}
	}

	// listen: until the returned function is called.
	readonly listen = (listener: () => void): (() => void) => {
		this.#all.add(listener);
		return () => this.#all.delete(listener);
	};
}
