// SPDX-License-Identifier: MPL-2.0
// Bounds for what events start.

// coalesced calls `call` at once, and again after `interval` milliseconds with the last value that came meanwhile. The
// interval's argument counts the intervals in a row in which values came.
export function coalesced<T>(
	call: (value: T) => void,
	interval: (busy: number) => number,
): { readonly put: (value: T) => void; readonly stop: () => void } {
	let timer: ReturnType<typeof setTimeout> | undefined;
	let waiting: { readonly value: T } | undefined;
	const run = (value: T, busy: number) => {
		waiting = undefined;
		timer = setTimeout(() => {
			timer = undefined;
			if (waiting) {
				run(waiting.value, busy + 1);
			}
		}, interval(busy));
		call(value);
	};
	return {
		put: (value) => {
			if (timer === undefined) {
				run(value, 0);
			} else {
				waiting = { value };
			}
		},
		stop: () => {
			clearTimeout(timer);
			timer = undefined;
			waiting = undefined;
		},
	};
}

// inTurn: calls during a call lead to one more call after it, so an older answer never follows a newer one. Calls of the
// same moment are one.
export function inTurn(call: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	let next: Promise<void> | undefined;
	let begun = false;
	const begin = () => {
		begun = true;
		return call();
	};
	const start = () => {
		begun = false;
		running = Promise.resolve()
			.then(begin)
			.finally(() => {
				running = undefined;
			});
		return running;
	};
	return () => {
		if (!running) {
			return start();
		}
		if (!begun) {
			return running;
		}
		next ??= running
			.catch(() => {})
			.then(() => {
				next = undefined;
				return start();
			});
		return next;
	};
}
