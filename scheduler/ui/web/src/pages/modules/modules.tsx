// SPDX-License-Identifier: MPL-2.0
import { Mark } from "../../components/status_mark.tsx";
import type { Column } from "../../components/table.tsx";
import { text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { RegistryList } from "../../objects/registry_list.tsx";
import { latestOf, setupOf, versionsOf } from "./module_words.ts";

const columns: readonly Column[] = [
	{ key: "provider", head: "Provider", cell: (module) => text(module, "provider") },
	{ key: "latest", head: "Latest version", cell: (module) => latestOf(versionsOf(module)) || "–" },
	{
		key: "state",
		head: "State",
		cell: (module) => {
			const [tone, word] = setupOf(module);
			return <Mark tone={tone}>{word}</Mark>;
		},
	},
];

export default function Modules({ params }: PageProps) {
	const org = params.org ?? "";
	return (
		<RegistryList
			org={org}
			title="Modules"
			word="module"
			resources="registry-modules"
			hint="Name, namespace or provider"
			intro="Modules that the configurations of the organization may call by the address of this server."
			empty={<p>Modules are published by the API: by upload, or from the tags or a branch of a repository terraform-PROVIDER-NAME.</p>}
			pathOf={({ id }) => pathTo("/app/:org/modules/:module", { org, module: id })}
			columns={columns}
		/>
	);
}
