// SPDX-License-Identifier: MPL-2.0
import { announce } from "./live_region.tsx";

export function CopyIcon() {
	return (
		<svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true">
			<path d="M5 5V1.5h9.5V11H11M1.5 5H11v9.5H1.5Z" fill="none" stroke="currentColor" stroke-width="1.5" />
		</svg>
	);
}

// An id, address or text with a button that copies it.
export function CopyId({ id, shown }: { readonly id: string; readonly shown?: string }) {
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(id);
			announce("Copied");
		} catch {
			announce("The browser does not allow copying");
		}
	};
	return (
		<span class="copy">
			<code title={id}>{shown ?? id}</code>
			<button type="button" class="icon-button" aria-label={`Copy ${id}`} onClick={copy}>
				<CopyIcon />
			</button>
		</span>
	);
}
