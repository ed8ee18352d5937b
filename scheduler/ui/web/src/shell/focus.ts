// SPDX-License-Identifier: MPL-2.0
// The focus is never lost: when an update removes the element that has it, the focus goes to what held the element.

let lastPath: readonly EventTarget[] = []; // the element that had the focus last, and its ancestors
let awaitsHeading = false; // the page's heading comes with its data; until then the focus is on main

// focusPage: the focus goes to the heading of the page, which screen readers then read.
export function focusPage(): void {
	const main = document.getElementById("main");
	const heading = main?.querySelector("h1");
	(heading ?? main)?.focus({ preventScroll: true });
	awaitsHeading = !heading;
}

function focusHolder(): void {
	const dialog = document.querySelector("dialog[open]");
	const holder = lastPath.find((node) => node instanceof HTMLElement && node.isConnected && node.tabIndex >= 0);
	const target = holder ?? dialog?.querySelector("input, select, textarea, button");
	if (target instanceof HTMLElement) {
		target.focus({ preventScroll: true });
	} else {
		focusPage();
	}
}

function check(): void {
	const active = document.activeElement;
	const [last] = lastPath;
	if (active === document.body && last instanceof Node && !last.isConnected) {
		focusHolder();
	} else if (awaitsHeading && active?.id === "main") {
		focusPage();
	}
}

// focusKeep starts to look for updates that remove the element with the focus.
export function focusKeep(): () => void {
	const entered = (event: FocusEvent) => {
		lastPath = event.composedPath();
		awaitsHeading &&= event.target === document.getElementById("main");
	};
	// An element that the user leaves is still there after the event.
	const left = () =>
		queueMicrotask(() => {
			const [last] = lastPath;
			if (document.activeElement === document.body && last instanceof Node && last.isConnected) {
				lastPath = [];
			}
		});
	const observer = new MutationObserver(check);
	document.addEventListener("focusin", entered);
	document.addEventListener("focusout", left);
	observer.observe(document.body, { childList: true, subtree: true });
	return () => {
		document.removeEventListener("focusin", entered);
		document.removeEventListener("focusout", left);
		observer.disconnect();
	};
}
