// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";

// A link to an address that a user or a service wrote: http and https only. Nothing for any other.
export function SafeLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
	return /^https?:\/\//i.test(href) ? (
		<a href={href} rel="noopener noreferrer">
			{children}
		</a>
	) : null;
}
