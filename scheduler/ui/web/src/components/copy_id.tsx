// SPDX-License-Identifier: MPL-2.0
import { CopyIcon, copyText } from "./copy.tsx";

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
