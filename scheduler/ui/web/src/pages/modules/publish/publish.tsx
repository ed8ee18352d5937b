// SPDX-License-Identifier: MPL-2.0
// A new module of the registry, in one of two ways.

import { useState } from "preact/hooks";
import { Content } from "../../../components/states.tsx";
import { Tabs } from "../../../components/tabs.tsx";
import { address, segment } from "../../../core/api.ts";
import { useDocument, useQuery } from "../../../core/hooks.ts";
import { may } from "../../../core/resource.ts";
import { type PageProps, pathTo } from "../../../core/router.ts";
import { useTitle } from "../../../core/title.ts";
import { Breadcrumb } from "../../../shell/breadcrumb.tsx";
import { manageReason } from "../module_words.ts";
import { ByUpload, type Made } from "./by_upload.tsx";
import { FromRepository } from "./from_repository.tsx";

export default function Publish({ params }: PageProps) {
	const { org = "" } = params;
	const organization = useDocument(address(`/organizations/${segment(org)}`));
	const reason = manageReason(may(organization.item, "can-create-module"));
	const [made, setMade] = useState<Made>({}); // it outlives its tab
	const by = useQuery().get("by") ?? "repository";
	useTitle(["Publish module", org]);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Modules", href: pathTo("/app/:org/modules", { org }) },
					{ word: "Publish module" },
				]}
			/>
			<h1 tabIndex={-1}>Publish module</h1>
			<Content of={organization}>
				{() => (
					<>
						{reason && <p class="note wait">{`To publish a module, ${reason}.`}</p>}
						<Tabs
							label="How it is published"
							shown={by}
							tabs={[
								{ key: "repository", word: "From a repository", content: () => <FromRepository org={org} reason={reason} /> },
								{ key: "upload", word: "By upload", content: () => <ByUpload org={org} reason={reason} made={made} onMade={setMade} /> },
							]}
						/>
					</>
				)}
			</Content>
		</>
	);
}
