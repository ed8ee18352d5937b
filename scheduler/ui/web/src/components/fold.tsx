// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

type Props = {
	readonly summary: ComponentChildren;
	readonly open: boolean; // until the user toggles it
	readonly id?: string;
	readonly class?: string;
	readonly children: () => ComponentChildren; // called only while it is open
};

// A section that opens and closes. The user's own toggle wins over `open`.
export function Fold({ summary, open, id, class: kind = "", children }: Props) {
	const [chosen, setChosen] = useState<boolean | undefined>();
	const shown = chosen ?? open;
	const clicked = useRef(false);
	return (
		<details
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
