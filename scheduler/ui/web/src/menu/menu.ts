// SPDX-License-Identifier: MPL-2.0
// The behaviour of a menu, which is a `details` element. It imports nothing, so that pages of the server can use it.

// menuStart closes the menu on Escape, on a click elsewhere, and after a link in it was followed. The returned function ends that.
export function menuStart(menu: HTMLDetailsElement): () => void {
	const clicked = (event: Event) => {
		const target = event.target instanceof Element ? event.target : null;
		if (menu.open && (!menu.contains(target) || target?.closest("a"))) {
			menu.open = false;
		}
	};
	const pressed = (event: KeyboardEvent) => {
		if (menu.open && event.key === "Escape") {
			menu.open = false;
			menu.querySelector("summary")?.focus();
		}
	};
	document.addEventListener("click", clicked);
	document.addEventListener("keydown", pressed);
	return () => {
		document.removeEventListener("click", clicked);
		document.removeEventListener("keydown", pressed);
	};
}
