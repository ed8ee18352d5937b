// SPDX-License-Identifier: MPL-2.0
// A notification configuration as the dialog edits it, and the request that saves it.

import { flag, linksOf, type Resource, text, texts } from "../../core/resource.ts";
import { destinations } from "../notification_words.ts";

export type NotificationForm = {
	readonly name: string;
	readonly destination: string;
	readonly url: string;
	readonly token: string; // "": the stored one stays
	readonly triggers: readonly string[];
	readonly emails: string; // one per line
	readonly enabled: boolean;
};

export const emptyNotification: NotificationForm = {
	name: "",
	destination: "generic",
	url: "",
	token: "",
	triggers: ["run:needs_attention", "run:errored"],
	emails: "",
	enabled: true,
};

export function notificationOf(item: Resource): NotificationForm {
	return {
		name: text(item, "name"),
		destination: text(item, "destination-type"),
		url: text(item, "url"),
		token: "",
		triggers: texts(item, "triggers"),
		emails: texts(item, "email-addresses").join("\n"),
		enabled: flag(item, "enabled"),
	};
}

// The destination type of an existing configuration can't be changed. Triggers without a checkbox are kept.
export function notificationBody(form: NotificationForm, item: Resource | undefined) {
	const isMail = form.destination === "email";
	const attributes = {
		name: form.name,
		enabled: form.enabled,
		triggers: form.triggers,
		...(!item && { "destination-type": form.destination }),
		...(isMail && { "email-addresses": form.emails.split(/[\s,]+/).filter(Boolean) }),
		...(!isMail && { url: form.url }),
		...(form.destination === "generic" && form.token && { token: form.token }),
	};
	const users = isMail && item ? { relationships: { users: { data: linksOf(item, "users") } } } : {};
	return { data: { type: "notification-configurations", attributes, ...users } };
}

export function destinationWord(item: Resource): string {
	return destinations.find(([key]) => key === text(item, "destination-type"))?.[1] ?? text(item, "destination-type");
}
