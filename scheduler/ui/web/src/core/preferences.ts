// SPDX-License-Identifier: MPL-2.0
// What the user chose in this browser. The theme is a cookie, because the server writes it into each page.

export type Theme = "system" | "light" | "dark";

const year = 365 * 24 * 3600;

export function themeOf(cookies: string): Theme {
	const value = /(?:^|;\s*)runyard_theme=([a-z]+)/.exec(cookies)?.[1];
	return value === "light" || value === "dark" ? value : "system";
}

export function themeSet(theme: Theme): void {
	const secure = location.protocol === "https:" ? "; Secure" : "";
	// biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in all supported browsers
	document.cookie = `runyard_theme=${theme}; Path=/; Max-Age=${theme === "system" ? 0 : year}; SameSite=Lax${secure}`;
	if (theme === "system") {
		delete document.documentElement.dataset.theme;
	} else {
		document.documentElement.dataset.theme = theme;
	}
}

const prefix = "runyard.";

export function preference(name: string, fallback: string): string {
	try {
		return localStorage.getItem(prefix + name) ?? fallback;
	} catch {
		return fallback;
	}
}

export function preferenceSet(name: string, value: string): void {
	try {
		localStorage.setItem(prefix + name, value);
	} catch {}
}

export const keyboardOn = () => preference("keyboard", "on") === "on";
export const timesInUtc = () => preference("times", "local") === "utc";
