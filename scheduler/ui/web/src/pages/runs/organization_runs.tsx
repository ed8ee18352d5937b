// SPDX-License-Identifier: MPL-2.0
import { segment } from "../../core/api.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { NeedsYou } from "./needs_you.tsx";
import { RunList } from "./run_list.tsx";

export default function OrganizationRuns({ params }: PageProps) {
	const org = params.org ?? "";
	useTitle(["Runs", org]);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Runs" }]} />
			<h1 tabIndex={-1}>Runs</h1>
			<NeedsYou org={org} />
			<h2>All runs</h2>
			<RunList path={`/organizations/${segment(org)}/runs`} topic={`org:${org}`} org={org} />
		</>
	);
}
