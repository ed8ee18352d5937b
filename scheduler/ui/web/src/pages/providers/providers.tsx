// SPDX-License-Identifier: MPL-2.0
import { text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { RegistryList } from "../../objects/registry_list.tsx";

export default function Providers({ params }: PageProps) {
	const org = params.org ?? "";
	return (
		<RegistryList
			org={org}
			title="Providers"
			word="provider"
			resources="registry-providers"
			hint="Name or namespace"
			intro={
				<>
					Private providers that the configurations of the organization may require by the address of this server, and recommended ones of
					the public registry. The <a href={pathTo("/app/:org/settings/gpg-keys", { org })}>GPG keys</a> sign the private ones.
				</>
			}
			empty={
				<p>
					Providers are published by the API: a GPG key, the provider, a version with its signed SHA256SUMS, and an archive for each
					platform.
				</p>
			}
			pathOf={({ id }) => pathTo("/app/:org/providers/:provider", { org, provider: id })}
			columns={[{ key: "latest", head: "Latest version", cell: (provider) => text(provider, "latest-version") || "–" }]}
		/>
	);
}
