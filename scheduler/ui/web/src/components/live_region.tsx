// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from "preact/hooks";

let say: (text: string) => void = () => {};

// announce says a result to screen readers, and shows it for a moment. It is never the only place of an error.
export function announce(text: string): void {
	say(text);
}

const shownMs = 4000;

export function LiveRegion() {
	const [text, setText] = useState("");
	useEffect(() => {
		say = setText;
		return () => {
			say = () => {};
		};
	}, []);
	useEffect(() => {
		if (!text) {
			return;
		}
		const timer = setTimeout(() => setText(""), shownMs);
		return () => clearTimeout(timer);
	}, [text]);
	return (
		<div role="status" class={text ? "toast" : "toast silent"}>
			{text}
		</div>
	);
}
