// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useQuery } from "../../core/hooks.ts";
import { text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";

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

function KeyList({ view }: { readonly view: OrganizationView }) {
	const path = `${view.path}/ssh-keys`;
	return (
		<ObjectList
			kind={kind}
			url={address(path, { "page[number]": useQuery().get("page") ?? undefined })}
			createPath={path}
			reason={without(view, "can-update-ssh-keys", "manage SSH keys")}
		/>
	);
}

export default function SshKeys({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="ssh-keys" intro="The general settings of a workspace choose one of them.">
			{(view) => <KeyList view={view} />}
		</SettingsFrame>
	);
}
