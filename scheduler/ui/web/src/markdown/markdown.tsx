// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { partLoad } from "../core/part.ts";

const maxText = 200_000;

// Markdown of users and services. Until its part of the bundle is there, and if the text is long, it is plain text.
// below: the level of the page's heading above the text.
export function Markdown({ text, below = 3 }: { readonly text: string; readonly below?: number }) {
	const box = useRef<HTMLDivElement>(null);
	const [plain, setPlain] = useState(true);
	useEffect(() => {
		let gone = false;
		const show = async () => {
			try {
				const { markdownRender } = await partLoad(() => import("./render.ts"));
				if (!gone && text.length <= maxText) {
					box.current?.replaceChildren(markdownRender(text, below));
					setPlain(false);
				}
			} catch {} // it stays plain
		};
		void show();
		return () => {
			gone = true;
		};
	}, [text, below]);
	return (
		<div class="markdown">
			{plain && <p class="as-written">{text}</p>}
			<div ref={box} />
		</div>
	);
}
