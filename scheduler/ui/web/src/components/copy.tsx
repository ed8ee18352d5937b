// SPDX-License-Identifier: MPL-2.0
import { announce } from "./live_region.tsx";

export async function copyText(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		announce("Copied");
	} catch {
		announce("The browser does not allow copying");
	}
}

export function CopyIcon() {
	return (
		<svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true">
			<path d="M5 5V1.5h9.5V11H11M1.5 5H11v9.5H1.5Z" fill="none" stroke="currentColor" stroke-width="1.5" />
		</svg>
	);
}

// An id, address or text with a button that copies it.
export function CopyId({ id, shown }: { readonly id: string; readonly shown?: string }) {
	return (
		<span class="copy">
			<code title={id}>{shown ?? id}</code>
			<button type="button" class="icon-button" aria-label={`Copy ${id}`} onClick={() => copyText(id)}>
				<CopyIcon />
			</button>
		</span>
	);
}

type Props = { readonly text: string | (() => string); readonly label: string; readonly word?: string };

export function CopyButton({ text, label, word }: Props) {
	return (
		<button
			type="button"
			class={word ? "" : "icon-button copy-button"}
			aria-label={word ? undefined : label}
			onClick={() => copyText(typeof text === "string" ? text : text())}
		>
			{word ?? <CopyIcon />}
		</button>
	);
}
