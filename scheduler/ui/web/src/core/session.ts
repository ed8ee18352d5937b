// SPDX-License-Identifier: MPL-2.0
// The signed-in user and the CSRF token, as the server wrote them into the page.

import { Listeners } from "./listeners.ts";

export type Session = {
	readonly csrf: string;
	readonly userId: string;
	readonly username: string;
	readonly impersonator: string; // the site admin who acts as the user, or ""
	readonly siteAdmin: boolean; // whether the pages of site admins are offered; the server decides who may use them
	readonly build: string;
};

// sessionOf reads the meta elements from the text of a page. It does not parse the text as HTML.
export function sessionOf(page: string): Session {
	const meta = (name: string) => new RegExp(`<meta name="${name}" content="([^"]*)">`).exec(page)?.[1] ?? "";
	return sessionFrom(meta);
}

function sessionFrom(meta: (name: string) => string): Session {
	return {
		csrf: meta("csrf"),
		userId: meta("user-id"),
		username: meta("username"),
		impersonator: meta("impersonator"),
		siteAdmin: meta("site-admin") === "true",
		build: meta("build"),
	};
}

function metaOf(name: string): string {
	return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

let current: Session | undefined;
let newBuild = false;
const listeners = new Listeners();
export const onNewBuild = listeners.listen;

export function session(): Session {
	current ??= sessionFrom(metaOf);
	return current;
}

// The fragment and the query are part of the address to return to.
export function signIn(): void {
	const back = location.pathname + location.search + location.hash;
	location.assign(`/app/login?return=${encodeURIComponent(back)}`);
}

// sessionRefresh reads the page again for a new token. It returns false if the page must be loaded again, which it does.
export async function sessionRefresh(): Promise<boolean> {
	const answer = await fetch("/app", { headers: { Accept: "text/html" }, redirect: "manual" });
	if (!answer.ok) {
		signIn();
		return false;
	}
	const fresh = sessionOf(await answer.text());
	if (fresh.userId !== session().userId || fresh.impersonator !== session().impersonator) {
		location.reload();
		return false;
	}
	serverBuildIs(fresh.build);
	current = { ...session(), csrf: fresh.csrf };
	return true;
}

// sessionCheck leads to sign-in if the session has ended.
export async function sessionCheck(): Promise<void> {
	try {
		await sessionRefresh();
	} catch {} // no connection
}

// The page of sign-in tells the browser's other pages that it is shown (sign_in.ts).
export function sessionWatch(): void {
	new BroadcastChannel("runyard").onmessage = () => void sessionCheck();
}

export function serverBuildIs(build: string): void {
	if (build !== session().build) {
		offerReload();
	}
}

// offerReload says that the server has another build, so that parts of this one may be gone.
export function offerReload(): void {
	newBuild = true;
	listeners.tell();
}

export function hasNewBuild(): boolean {
	return newBuild;
}
