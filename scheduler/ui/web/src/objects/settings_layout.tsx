// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";

type Props = {
	readonly label: string; // of the list
	readonly pages: readonly { readonly key: string; readonly word: string }[];
	readonly shown: string; // the key of this page
	readonly below: string; // the address of a page without its key
	readonly children: ComponentChildren;
};

// A page of settings: the list of pages at the side, or above where there is no room.
export function SettingsLayout({ label, pages, shown, below, children }: Props) {
	return (
		<div class="settings">
			<nav class="settings-nav" aria-label={label}>
				{pages.map(({ key, word }) => (
					<a key={key} href={`${below}/${key}`} aria-current={key === shown ? "page" : undefined}>
						{word}
					</a>
				))}
			</nav>
			<div class="settings-body">{children}</div>
		</div>
	);
}
