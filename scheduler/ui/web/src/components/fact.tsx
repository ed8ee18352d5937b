// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";

// A word and what it stands for, in a <dl>.
export function Fact({ word, children }: { readonly word: string; readonly children: ComponentChildren }) {
	return (
		<div>
			<dt>{word}</dt>
			<dd>{children}</dd>
		</div>
	);
}
