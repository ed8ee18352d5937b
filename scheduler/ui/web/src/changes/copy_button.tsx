// SPDX-License-Identifier: MPL-2.0
import { CopyIcon } from "../components/copy_id.tsx";
import { announce } from "../components/live_region.tsx";

type Props = { readonly text: string | (() => string); readonly label: string; readonly word?: string };

export function CopyButton({ text, label, word }: Props) {
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(typeof text === "string" ? text : text());
			announce("Copied");
		} catch {
			announce("The browser does not allow copying");
		}
	};
	return (
		<button type="button" class={word ? "" : "icon-button copy-button"} aria-label={word ? undefined : label} onClick={copy}>
			{word ?? <CopyIcon />}
		</button>
	);
}
