// SPDX-License-Identifier: MPL-2.0
import { Pagination } from "../../components/pagination.tsx";
import { SiteText } from "../../components/site_text.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { NewOrganization } from "./new_organization.tsx";

const columns = [
	{
		key: "name",
		head: "Name",
		cell: (item: Resource) => (
			<a class="row-link" href={pathTo("/app/:org/workspaces", { org: text(item, "name") })}>
				{text(item, "name")}
			</a>
		),
	},
	{ key: "email", head: "E-mail", class: "wide", cell: (item: Resource) => text(item, "email") },
	{ key: "created", head: "Created", cell: (item: Resource) => <TimeAgo time={item.attributes["created-at"]} /> },
];

export default function Organizations() {
	const page = useQuery().get("page") ?? undefined;
	const list = useDocument(address("/organizations", { "page[number]": page }));
	useTitle(["Organizations"]);
	return (
		<>
			<div class="page-head">
				<h1 tabIndex={-1}>Organizations</h1>
				<NewOrganization />
			</div>
			<Content of={list}>
				{() =>
					list.items.length === 0 ? (
						<EmptyState title="You are in no organization">
							<p>
								<a href="/app/settings/invitations">Your invitations</a> lead to organizations that invite your address.
							</p>
							<SiteText name="new-user" />
						</EmptyState>
					) : (
						<>
							<Table caption="Organizations" columns={columns} rows={list.items} />
							<Pagination pages={list.pages} />
						</>
					)
				}
			</Content>
		</>
	);
}
