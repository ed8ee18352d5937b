// SPDX-License-Identifier: MPL-2.0
import { segment } from "../../core/api.ts";
import { text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectPages } from "./object_page.tsx";

const kind: ObjectKind = {
	type: "ssh-keys",
	one: "SSH key",
	many: "SSH keys",
	empty: "No SSH keys. With one, terraform reads modules of private Git repositories.",
	name: (item) => text(item, "name"),
	item: (id) => `/ssh-keys/${segment(id)}`,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{
			name: "value",
			label: "Private key",
			kind: "long",
			only: "create",
			hint: "In PEM, without a passphrase. It is never shown again.",
		},
	],
	columns: [],
	removes: "Workspaces that use it have no key from then on.",
};

export default function SshKeys({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="ssh-keys"
			intro="The general settings of a workspace choose one of them."
			kind={kind}
			below="/ssh-keys"
			right="can-update-ssh-keys"
			what="manage SSH keys"
		/>
	);
}
