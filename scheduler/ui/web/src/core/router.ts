// SPDX-License-Identifier: MPL-2.0
// Addresses of pages. A pattern such as /app/:org/workspaces gives its values by name.

import type { ComponentType } from "preact";
import { Listeners } from "./listeners.ts";

export type Params = Readonly<Record<string, string>>;
export type PageProps = { readonly params: Params };
export type PageModule = { readonly default: ComponentType<PageProps> };
export type Route = { readonly pattern: string; readonly load: () => Promise<PageModule> };
export type Match = { readonly route: Route; readonly params: Params };

export function patternMatch(pattern: string, path: string): Params | undefined {
	const wanted = pattern.split("/");
	const given = path.replace(/\/$/, "").split("/");
	if (wanted.length !== given.length) {
		return undefined;
	}
	const params: Record<string, string> = {};
	for (let i = 0; i < wanted.length; i++) {
		const part = wanted[i] ?? "";
		const value = given[i] ?? "";
		if (!part.startsWith(":")) {
			if (part !== value) {
				return undefined;
			}
			continue;
		}
		try {
			params[part.slice(1)] = decodeURIComponent(value);
		} catch {
			return undefined;
		}
		if (!value) {
			return undefined;
		}
	}
	return params;
}

export function routeMatch(routes: readonly Route[], path: string): Match | undefined {
	for (const route of routes) {
		const params = patternMatch(route.pattern, path);
		if (params) {
			return { route, params };
		}
	}
	return undefined;
}

// pathTo: the address of a pattern with its values, percent-encoded.
export function pathTo(pattern: string, params: Params): string {
	return pattern.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

// ---- the browser's address ----

const listeners = new Listeners();
export const onAddress = listeners.listen;

export function navigate(to: string, replace = false): void {
	history[replace ? "replaceState" : "pushState"](null, "", to);
	listeners.tell();
}

export function queryNow(): URLSearchParams {
	return new URLSearchParams(location.search);
}

type Changes = Readonly<Record<string, string>>;

// addressWith: this page's address with other view state in the query; "" removes a name.
export function addressWith(changes: Changes): string {
	const query = queryNow();
	for (const [name, value] of Object.entries(changes)) {
		if (value) {
			query.set(name, value);
		} else {
			query.delete(name);
		}
	}
	const text = query.toString();
	return location.pathname + (text && `?${text}`);
}

// queryChange sets view state. Typing replaces the entry of the history.
export function queryChange(changes: Changes, replace = true): void {
	navigate(addressWith(changes) + location.hash, replace);
}

function isPlainClick(event: MouseEvent): boolean {
	return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey && !event.defaultPrevented;
}

// routerStart follows links to pages of this bundle without loading the document again.
export function routerStart(routes: readonly Route[]): void {
	addEventListener("popstate", () => listeners.tell());
	document.addEventListener("click", (event) => {
		const link = (event.target as Element | null)?.closest?.("a[href]");
		if (!(link instanceof HTMLAnchorElement) || !isPlainClick(event) || link.target || link.hasAttribute("download")) {
			return;
		}
		const to = new URL(link.href);
		const samePage = to.pathname === location.pathname && to.search === location.search && to.hash;
		if (to.origin !== location.origin || samePage || !routeMatch(routes, to.pathname)) {
			return;
		}
		event.preventDefault();
		navigate(to.pathname + to.search + to.hash);
	});
}
