// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { safeUrl } from "../core/links.ts";

type Props = {
	readonly href: string;
	readonly above?: boolean; // it stands in a row that is a link
	readonly label?: string | undefined; // for screen readers
	readonly children: ComponentChildren;
};

// A link to an address that a user or a service wrote. Nothing if it must not be a link.
export function SafeLink({ href, above = false, label, children }: Props) {
	const safe = safeUrl(href);
	return safe ? (
		<a href={safe} rel="noopener noreferrer" aria-label={label} {...(above && { class: "above-row" })}>
			{children}
		</a>
	) : null;
}

// The same, or the text alone if it must not be a link.
export function TextLink(props: Props) {
	return safeUrl(props.href) ? <SafeLink {...props} /> : <span>{props.children}</span>;
}
