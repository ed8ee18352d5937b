// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef } from "preact/hooks";

// A text of the site's admins, which the server has put into the page as harmless HTML (scheduler/ui/page.c).
export function SiteText({ name }: { readonly name: "new-user" | "error" }) {
	const block = useRef<HTMLDivElement>(null);
	const template = document.getElementById(`site-${name}`);
	const exists = template instanceof HTMLTemplateElement;
	useEffect(() => {
		if (exists) {
			block.current?.replaceChildren(template.content.cloneNode(true));
		}
	}, [exists, template]);
	return exists ? <div class="site-text" ref={block} /> : null;
}
