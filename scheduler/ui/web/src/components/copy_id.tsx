// SPDX-License-Identifier: MPL-2.0
import { announce } from "./live_region.tsx";

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
				⧉
			</button>
		</span>
	);
}
