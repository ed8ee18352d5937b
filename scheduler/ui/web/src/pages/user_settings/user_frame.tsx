// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { SettingsLayout } from "../../objects/settings_layout.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";

const pages = [
	{ key: "tokens", word: "Tokens" },
	{ key: "password", word: "Password" },
	{ key: "identities", word: "Identity providers" },
	{ key: "two-factor", word: "Two-factor authentication" },
	{ key: "sessions", word: "Sessions" },
	{ key: "invitations", word: "Invitations" },
	{ key: "keyboard", word: "Keyboard" },
	{ key: "theme", word: "Theme and times" },
] as const;

type Props = { readonly section: string; readonly title: string; readonly children: ComponentChildren };

// The settings of the user. The server renders some of the pages.
export function UserFrame({ section, title, children }: Props) {
	return (
		<>
			<Breadcrumb crumbs={[{ word: "Your settings" }, { word: title }]} />
			<SettingsLayout label="Your settings" pages={pages} shown={section} below="/app/settings">
				<h1 tabIndex={-1}>{title}</h1>
				{children}
			</SettingsLayout>
		</>
	);
}
