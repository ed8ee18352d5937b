// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { safeUrl } from "../../../core/links.ts";

// A link to an address that a user or a service wrote. Nothing if it must not be a link.
export function SafeLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
	const safe = safeUrl(href);
	return safe ? (
		<a href={safe} rel="noopener noreferrer">
			{children}
		</a>
	) : null;
}
