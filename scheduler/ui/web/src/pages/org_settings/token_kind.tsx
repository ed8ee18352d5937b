// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../components/time_ago.tsx";
import { segment } from "../../core/api.ts";
import { text } from "../../core/resource.ts";
import type { ObjectKind } from "./kinds.ts";

// Tokens with a description, of a pool or of a team.
export const tokenKind: ObjectKind = {
	type: "authentication-tokens",
	one: "token",
	many: "Tokens",
	empty: "No tokens.",
	name: (item) => text(item, "description") || "Token without a description",
	item: (id) => `/authentication-tokens/${segment(id)}`,
	fields: [
		{ name: "description", label: "Description", kind: "text", only: "create", hint: "Who or what uses the token." },
		{ name: "expired-at", label: "Expires", kind: "time", only: "create", hint: "Empty: it does not expire." },
	],
	columns: [
		{ key: "created", head: "Created", cell: (item) => <TimeAgo time={item.attributes["created-at"]} /> },
		{
			key: "used",
			head: "Last used",
			cell: (item) =>
				item.attributes["last-used-at"] ? <TimeAgo time={item.attributes["last-used-at"]} /> : <span class="muted">Never used</span>,
		},
		{ key: "expires", head: "Expires", class: "wide", cell: (item) => <TimeAgo time={item.attributes["expired-at"]} /> },
	],
	secret: "token",
	remove: "Revoke",
	removes: "Whoever uses the token is refused from then on.",
};
