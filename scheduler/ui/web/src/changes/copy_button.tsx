// SPDX-License-Identifier: MPL-2.0
import { CopyIcon, copyText } from "../components/copy.tsx";

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
