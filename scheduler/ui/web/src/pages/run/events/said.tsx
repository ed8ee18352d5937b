// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";

const saidMs = 10_000;

// Announces the progress of an operation to screen readers, at most every 10 s. Visible numbers change more often.
export function Said({ text }: { readonly text: string }) {
	const [said, setSaid] = useState("");
	const at = useRef(Number.NEGATIVE_INFINITY);
	useEffect(() => {
		if (text === said) {
			return;
		}
		const say = () => {
			at.current = performance.now();
			setSaid(text);
		};
		const timer = setTimeout(say, Math.max(at.current + saidMs - performance.now(), 0));
		return () => clearTimeout(timer);
	}, [text, said]);
	return (
		<p role="status" class="sr-only">
			{said}
		</p>
	);
}
