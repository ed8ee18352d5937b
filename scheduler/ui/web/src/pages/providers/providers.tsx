// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { NewObject } from "../../objects/new_object.tsx";
import type { FormKind } from "../../objects/object_dialog.tsx";
import { RegistryList } from "../../objects/registry_list.tsx";
import { manageReason } from "./provider_words.ts";

const kind: FormKind = {
	type: "registry-providers",
	one: "provider",
	add: "Publish Provider",
	create: "Publish",
	missing: (values) =>
		!values.name ? "it needs a name" : values["registry-name"] === "public" && !values.namespace ? "it needs a namespace" : undefined,
	fields: [
		{
			name: "registry-name",
			label: "Registry",
			kind: "choice",
			initial: "private",
			options: [
				["private", "Private: its versions are published here"],
				["public", "Public: recommend one of the public registry"],
			],
		},
		{
			name: "namespace",
			label: "Namespace",
			kind: "text",
			longest: 64,
			hint: "hashicorp for hashicorp/aws.",
			shown: (values) => values["registry-name"] === "public",
		},
		{ name: "name", label: "Name", kind: "text", longest: 64, hint: "time for archives that are named terraform-provider-time_..." },
	],
};

function Publish({ org }: { readonly org: string }) {
	const path = `/organizations/${segment(org)}`;
	const { item } = useDocument(address(path));
	return item ? (
		<NewObject
			kind={kind}
			primary
			path={`${path}/registry-providers`}
			reason={may(item, "can-create-provider") ? undefined : manageReason}
			page={({ id }) => pathTo("/app/:org/providers/:provider", { org, provider: id })}
		/>
	) : null;
}

export default function Providers({ params }: PageProps) {
	const org = params.org ?? "";
	return (
		<RegistryList
			org={org}
			title="Providers"
			word="provider"
			resources="registry-providers"
			intro={
				<>
					Private providers that the configurations of the organization may require by the address of this server, and recommended ones of
					the public registry. The <a href={pathTo("/app/:org/settings/gpg-keys", { org })}>GPG keys</a> sign the private ones.
				</>
			}
			empty={
				<p>
					Publish a provider, and then its versions: each has a signed SHA256SUMS, and an archive for each platform. The API does the same.
				</p>
			}
			publish={<Publish org={org} />}
			pathOf={({ id }) => pathTo("/app/:org/providers/:provider", { org, provider: id })}
			columns={[{ key: "latest", head: "Latest version", cell: (provider) => text(provider, "latest-version") || "–" }]}
		/>
	);
}
