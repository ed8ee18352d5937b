// SPDX-License-Identifier: MPL-2.0
// Notifications of the desktop, for users who want them in this browser.

import { Listeners } from "./listeners.ts";
import { preference, preferenceSet } from "./preferences.ts";

const listeners = new Listeners();
export const onNotices = listeners.listen;

export const noticesSupported = () => typeof Notification !== "undefined";
export const noticesRefused = () => noticesSupported() && Notification.permission === "denied";

// Users can withdraw the browser's permission without this page.
export function noticesOn(): boolean {
	return noticesSupported() && Notification.permission === "granted" && preference("notify", "off") === "on";
}

// noticesSet asks the browser's user for permission if there is none yet. It returns whether they are on now.
export async function noticesSet(on: boolean): Promise<boolean> {
	const granted = on && (await Notification.requestPermission()) === "granted";
	preferenceSet("notify", granted ? "on" : "off");
	listeners.tell();
	return granted;
}

export type Notice = {
	readonly title: string;
	readonly body: string;
	readonly tag: string; // several pages show one notification for it
	readonly onClick: () => void;
};

export function noticeShow({ title, body, tag, onClick }: Notice): void {
	try {
		const shown = new Notification(title, { body, tag });
		shown.onclick = () => {
			focus();
			shown.close();
			onClick();
		};
	} catch {} // browsers of phones have no such constructor
}
