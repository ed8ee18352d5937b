// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { address, segment } from "../core/api.ts";
import { helpFor } from "../core/help.ts";
import { useDocument, useRender } from "../core/hooks.ts";
import { type Theme, themeOf, themeSet } from "../core/preferences.ts";
import { text } from "../core/resource.ts";
import { navigate, pathTo } from "../core/router.ts";
import { session } from "../core/session.ts";
import { menuStart } from "../menu/menu.ts";
import { ConnectionMark } from "./connection_mark.tsx";

function Menu({ word, children }: { readonly word: string; readonly children: preact.ComponentChildren }) {
	const element = useRef<HTMLDetailsElement>(null);
	useEffect(() => (element.current ? menuStart(element.current) : undefined), []);
	return (
		<details class="menu" ref={element}>
			<summary>{word}</summary>
			<div class="menu-items">{children}</div>
		</details>
	);
}

function OrganizationMenu({ organization }: { readonly organization: string }) {
	const list = useDocument(address("/organizations", { "page[size]": 100 }));
	return (
		<Menu word={organization || "Organizations"}>
			{list.items.map((item) => (
				<a
					key={item.id}
					href={pathTo("/app/:org/workspaces", { org: text(item, "name") })}
					aria-current={item.id === organization ? "true" : undefined}
				>
					{text(item, "name")}
				</a>
			))}
			<a href="/app">All organizations</a>
		</Menu>
	);
}

const themes: readonly (readonly [Theme, string])[] = [
	["system", "System theme"],
	["light", "Light"],
	["dark", "Dark"],
];

function ThemeChoice() {
	const render = useRender();
	const chosen = themeOf(document.cookie);
	return (
		<fieldset class="theme">
			<legend class="sr-only">Theme</legend>
			{themes.map(([theme, word]) => (
				<label key={theme}>
					<input
						type="radio"
						name="theme"
						checked={chosen === theme}
						onChange={() => {
							themeSet(theme);
							render();
						}}
					/>
					{word}
				</label>
			))}
		</fieldset>
	);
}

function UserMenu() {
	return (
		<Menu word={session().username}>
			<a href="/app/settings/tokens">Tokens</a>
			<a href="/app/settings/password">Password</a>
			<a href="/app/settings/two-factor">Two-factor authentication</a>
			<a href="/app/settings/sessions">Sessions</a>
			<a href="/app/settings/invitations">Invitations</a>
			<a href="/app/settings/keyboard">Keyboard</a>
			<a href="/app/settings/theme">Theme and times</a>
			{session().siteAdmin && <a href="/app/admin/organizations">Site administration</a>}
			<ThemeChoice />
			<form method="post" action="/app/logout">
				<input type="hidden" name="csrf" value={session().csrf} />
				<button type="submit" class="button plain">
					Sign out
				</button>
			</form>
		</Menu>
	);
}

// Suggests workspaces by name. Enter without a choice opens the list with the search.
function Search({ organization }: { readonly organization: string }) {
	const [value, setValue] = useState("");
	const path = `/organizations/${segment(organization)}/workspaces`;
	const found = useDocument(value ? address(path, { "search[name]": value, "page[size]": 8, sort: "name" }) : undefined);
	const submit = (event: Event) => {
		event.preventDefault();
		const [only] = found.items;
		setValue("");
		navigate(
			found.items.length === 1 && only
				? pathTo("/app/:org/workspaces/:ws", { org: organization, ws: text(only, "name") })
				: `${pathTo("/app/:org/workspaces", { org: organization })}?q=${encodeURIComponent(value)}`,
		);
	};
	return (
		<search>
			<form class="search" onSubmit={submit}>
				<input
					type="search"
					id="search"
					aria-label={`Search workspaces of ${organization}`}
					placeholder="Search workspaces ( / )"
					autocomplete="off"
					value={value}
					onInput={(event) => setValue(event.currentTarget.value)}
				/>
				{value && (
					<ul class="search-found" aria-label="Workspaces found">
						{found.items.map((item) => (
							<li key={item.id}>
								<a href={pathTo("/app/:org/workspaces/:ws", { org: organization, ws: text(item, "name") })} onClick={() => setValue("")}>
									{text(item, "name")}
								</a>
							</li>
						))}
						{!found.loading && found.items.length === 0 && <li class="muted">Nothing matches</li>}
					</ul>
				)}
			</form>
		</search>
	);
}

export const barLinks = [
	{ word: "Workspaces", pattern: "/app/:org/workspaces" },
	{ word: "Runs", pattern: "/app/:org/runs" },
	{ word: "Queue", pattern: "/app/:org/queue" },
	{ word: "Explorer", pattern: "/app/:org/explorer" },
	{ word: "Modules", pattern: "/app/:org/modules" },
	{ word: "Providers", pattern: "/app/:org/providers" },
	{ word: "Settings", pattern: "/app/:org/settings/general" },
] as const;

export function TopBar({ organization }: { readonly organization: string }) {
	return (
		<header class="bar">
			<a class="brand" href="/app">
				Runyard
			</a>
			<OrganizationMenu organization={organization} />
			{organization && (
				<nav aria-label="Organization">
					{barLinks.map((link) => {
						const to = pathTo(link.pattern, { org: organization });
						return (
							<a key={to} href={to} aria-current={location.pathname === to ? "page" : undefined}>
								{link.word}
							</a>
						);
					})}
				</nav>
			)}
			{organization && <Search organization={organization} />}
			<span class="bar-end">
				<ConnectionMark />
				<a class="help" href={helpFor(location.pathname)}>
					Help
				</a>
				<UserMenu />
			</span>
		</header>
	);
}
