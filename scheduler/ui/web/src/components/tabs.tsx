// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";

export type Tab = { readonly key: string; readonly word: string; readonly content: () => ComponentChildren };

type Props = {
	readonly tabs: readonly Tab[];
	readonly label: string;
	readonly shown?: string; // until the user selects one
	readonly wanted?: string | undefined; // selected when it changes, as by a link
};

// Tabs with arrow keys. Only the content of the selected tab exists.
export function Tabs({ tabs, label, shown, wanted }: Props) {
	const [chosen, setKey] = useState<string | undefined>();
	useEffect(() => {
		if (wanted) {
			setKey(wanted);
		}
	}, [wanted]);
	const key = chosen ?? shown;
	const id = useId();
	const at = Math.max(
		tabs.findIndex((tab) => tab.key === key),
		0,
	);
	const move = (event: KeyboardEvent) => {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		const next = tabs[(at + step + tabs.length) % tabs.length];
		if (step && next) {
			event.preventDefault();
			setKey(next.key);
			document.getElementById(`${id}-${next.key}`)?.focus();
		}
	};
	return (
		<div class="tabs">
			<div role="tablist" aria-label={label} onKeyDown={move}>
				{tabs.map((tab, i) => (
					<button
						key={tab.key}
						type="button"
						role="tab"
						id={`${id}-${tab.key}`}
						aria-selected={i === at}
						aria-controls={`${id}-panel`}
						tabIndex={i === at ? 0 : -1}
						onClick={() => setKey(tab.key)}
					>
						{tab.word}
					</button>
				))}
			</div>
			<div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tabs[at]?.key}`}>
				{tabs[at]?.content()}
			</div>
		</div>
	);
}
