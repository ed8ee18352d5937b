// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, may } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { QueueView } from "./queue_view.tsx";

export default function Queue({ params }: PageProps) {
	const org = params.org ?? "";
	const path = `/organizations/${segment(org)}`;
	const organization = useDocument(address(path));
	const account = useDocument(address("/account/details"));
	const workers = may(organization.item, "can-manage-agent-pools");
	useTitle(["Queue", org]);
	return (
		<>
			<Breadcrumb crumbs={[{ word: org, href: pathTo("/app/:org/workspaces", { org }) }, { word: "Queue" }]} />
			<h1 tabIndex={-1}>Queue and workers</h1>
			{flag(account.item, "is-site-admin") && (
				<p>
					<a href="/app/admin/queue">Queue and workers of the site</a>
				</p>
			)}
			<QueueView queueUrl={`${path}/queue`} workersUrl={workers ? `${path}/workers` : undefined} topic={`org:${org}`} />
		</>
	);
}
