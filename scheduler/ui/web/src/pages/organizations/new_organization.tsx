// SPDX-License-Identifier: MPL-2.0

import { text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { NewObject } from "../../objects/new_object.tsx";
import type { FormKind } from "../../objects/object_dialog.tsx";

const kind: FormKind = {
	type: "organizations",
	one: "organization",
	create: "Create organization",
	missing: ({ name, email }) => (name && email ? undefined : "it needs a name and an e-mail address"),
	fields: [
		{
			name: "name",
			label: "Name",
			kind: "text",
			longest: 40,
			hint: "Letters, digits, - and _. It is a part of all addresses, and can't be used twice.",
		},
		{ name: "email", label: "E-mail", kind: "email", hint: "Where the organization's owners can be reached." },
	],
};

export function NewOrganization() {
	return <NewObject kind={kind} path="/organizations" page={(made) => pathTo("/app/:org/workspaces", { org: text(made, "name") })} />;
}
