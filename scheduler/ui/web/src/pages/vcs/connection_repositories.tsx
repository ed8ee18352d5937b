// SPDX-License-Identifier: MPL-2.0
import { SafeLink } from "../../components/safe_link.tsx";
import { Content } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, readAll } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import { linkOf, linksOf, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { OrganizationView } from "../org_settings/settings_frame.tsx";
import { RepositoryState } from "./repository_state.tsx";

// useRepositories: the repositories that workspaces or policy sets use through the connection.
export function useRepositories(path: string, connection: Resource): { of: Loaded; items: readonly Resource[] } {
	const of = useDocument(address(`${path}/vcs-repositories`, { include: "workspaces,policy_sets", "page[size]": 100 }), readAll);
	return { of, items: of.items.filter((item) => linkOf(item, "oauth-client")?.id === connection.id) };
}

function Users({ org, repository }: { readonly org: string; readonly repository: Resource }) {
	const sets = linksOf(repository, "policy-sets");
	return (
		<>
			{store.many(repository, "workspaces").map((workspace) => {
				const name = text(workspace, "name");
				return (
					<div key={workspace.id}>
						<a href={pathTo("/app/:org/workspaces/:ws/settings/version-control", { org, ws: name })}>{name}</a>
					</div>
				);
			})}
			{sets.length > 0 && <div>{counted(sets.length, "policy set")}</div>}
		</>
	);
}

type Props = { readonly view: OrganizationView; readonly connection: Resource };

// What uses the connection.
export function Repositories({ view, connection }: Props) {
	const { of, items } = useRepositories(view.path, connection);
	const columns = [
		{
			key: "identifier",
			head: "Repository",
			cell: (item: Resource) => (
				<>
					<bdi>{text(item, "identifier")}</bdi> <SafeLink href={text(item, "web-url")}>Open</SafeLink>
				</>
			),
		},
		{ key: "state", head: "State", cell: (item: Resource) => <RepositoryState repository={item} /> },
		{ key: "looked", head: "Last look", class: "wide", cell: (item: Resource) => <TimeAgo time={item.attributes["looked-at"]} /> },
		{ key: "users", head: "Used by", cell: (item: Resource) => <Users org={view.org} repository={item} /> },
	];
	return (
		<section aria-label="Repositories">
			<h3>Repositories</h3>
			<Content of={of}>
				{() =>
					items.length === 0 ? (
						<p class="muted">No workspace and no policy set uses it. The settings of a workspace choose a repository.</p>
					) : (
						<Table caption="Repositories" columns={columns} rows={items} stacked />
					)
				}
			</Content>
		</section>
	);
}

// The text of the dialog that deletes the connection.
export function RemovalText({ path, connection }: { readonly path: string; readonly connection: Resource }) {
	const { of, items } = useRepositories(path, connection);
	const workspaces = items.flatMap((item) => store.many(item, "workspaces"));
	const sets = items.reduce((sum, item) => sum + linksOf(item, "policy-sets").length, 0);
	return (
		<Content of={of}>
			{() =>
				workspaces.length + sets === 0 ? (
					<p>No workspace and no policy set uses it.</p>
				) : (
					<>
						<p>
							{counted(workspaces.length, "workspace")} and {counted(sets, "policy set")} are disconnected. No commit starts a run there any
							more; states, runs and settings stay.
						</p>
						<ul>
							{workspaces.slice(0, 20).map((workspace) => (
								<li key={workspace.id}>{text(workspace, "name")}</li>
							))}
							{workspaces.length > 20 && <li>and {counted(workspaces.length - 20, "more", "more")}</li>}
						</ul>
					</>
				)
			}
		</Content>
	);
}
