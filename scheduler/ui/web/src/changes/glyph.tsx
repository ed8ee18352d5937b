// SPDX-License-Identifier: MPL-2.0

type Props = { readonly action: { readonly glyph: string; readonly word: string; readonly tone: string } };

// An action: its glyph in a column of its own, and its word.
export function Glyph({ action }: Props) {
	return (
		<span class={`change-action ${action.tone}`}>
			<span class="change-glyph" aria-hidden="true">
				{action.glyph}
			</span>
			{action.word}
		</span>
	);
}
