// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useFragment } from "../core/hooks.ts";

type Props = {
	readonly summary: ComponentChildren;
	readonly open: boolean; // until the user toggles it
	readonly id?: string;
	readonly also?: readonly string[]; // further names that open it in a fragment: #NAME and #NAME:...
	readonly class?: string;
	readonly children: () => ComponentChildren; // called only while it is open
};

// A section that opens and closes. The user's own toggle wins over `open`. A fragment that names it opens it.
export function Fold({ summary, open, id, also = [], class: kind = "", children }: Props) {
	const [chosen, setChosen] = useState<boolean | undefined>();
	const element = useRef<HTMLDetailsElement>(null);
	const fragment = useFragment().slice(1);
	useEffect(() => {
		const [name = ""] = fragment.split(":");
		if (name && (name === id || also.includes(name))) {
			setChosen(true);
		}
		if (name && fragment === id) {
			element.current?.scrollIntoView({ block: "start" });
		}
	}, [fragment]);
	const shown = chosen ?? open;
	const clicked = useRef(false);
	return (
		<details
			ref={element}
			id={id}
			class={`fold ${kind}`}
			open={shown}
			onToggle={(event) => {
				if (clicked.current) {
					clicked.current = false;
					setChosen(event.currentTarget.open);
				}
			}}
		>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button */}
			<summary
				onClick={() => {
					clicked.current = true;
				}}
			>
				{summary}
			</summary>
			{shown && <div class="fold-body">{children()}</div>}
		</details>
	);
}
