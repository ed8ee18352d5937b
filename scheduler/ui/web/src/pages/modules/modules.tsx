// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { Mark } from "../../components/status_mark.tsx";
import type { Column } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { RegistryList } from "../../objects/registry_list.tsx";
import { latestOf, manageReason, setupOf, versionsOf } from "./module_words.ts";

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

// A link to the page that publishes. Without the right to, it is a button that says why.
function PublishLink({ org }: { readonly org: string }) {
	const { item } = useDocument(address(`/organizations/${segment(org)}`));
	const reason = manageReason(may(item, "can-create-module"));
	const word = "Publish Module";
	if (!item) {
		return null;
	}
	return reason ? (
		<Button kind="primary" reason={reason} onPress={() => {}}>
			{word}
		</Button>
	) : (
		<a class="button primary" href={pathTo("/app/:org/modules/new", { org })}>
			{word}
		</a>
	);
}

export default function Modules({ params }: PageProps) {
	const org = params.org ?? "";
	return (
		<RegistryList
			org={org}
			title="Modules"
			word="module"
			resources="registry-modules"
			intro="Modules that the configurations of the organization may call by the address of this server."
			empty={<p>A module is published by upload, or from the tags or a branch of a repository, such as terraform-PROVIDER-NAME.</p>}
			publish={<PublishLink org={org} />}
			pathOf={({ id }) => pathTo("/app/:org/modules/:module", { org, module: id })}
			columns={columns}
		/>
	);
}
