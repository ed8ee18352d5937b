// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";

const pages = [
	["tokens", "Tokens"],
	["password", "Password"],
	["invitations", "Invitations"],
	["keyboard", "Keyboard"],
	["theme", "Theme and times"],
] as const;

type Props = { readonly section: string; readonly title: string; readonly children: ComponentChildren };

// The settings of the user. The server renders some of the pages.
export function UserFrame({ section, title, children }: Props) {
	return (
		<>
			<Breadcrumb crumbs={[{ word: "Your settings" }, { word: title }]} />
			<div class="settings">
				<nav class="settings-nav" aria-label="Your settings">
					{pages.map(([key, word]) => (
						<a key={key} href={`/app/settings/${key}`} aria-current={key === section ? "page" : undefined}>
							{word}
						</a>
					))}
				</nav>
				<div class="settings-body">
					<h1 tabIndex={-1}>{title}</h1>
					{children}
				</div>
			</div>
		</>
	);
}
