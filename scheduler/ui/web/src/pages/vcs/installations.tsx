// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { SaidNote } from "../../components/error_panel.tsx";
import { Fold } from "../../components/fold.tsx";
import { SafeLink } from "../../components/safe_link.tsx";
import { Content } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { address } from "../../core/api.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import type { OrganizationView } from "../org_settings/settings_frame.tsx";
import { CallProblem } from "./call_problem.tsx";
import { ConnectionPools } from "./connection_pool.tsx";

// useInstallations: the installations of the site's GitHub App that are connected to the organization.
export function useInstallations(org: string): { of: Loaded; items: readonly Resource[] } {
	const of = useDocument(address("/github-app/installations"));
	return { of, items: of.items.filter((item) => linkOf(item, "organization")?.id === org) };
}

function InstallationState({ installation }: { readonly installation: Resource }) {
	return (
		<>
			<SaidNote tone="failure">{text(installation, "error")}</SaidNote>
			<CallProblem of={installation} />
		</>
	);
}

const columns: readonly Column[] = [
	{
		key: "name",
		head: "Account",
		cell: (item) => (
			<>
				<bdi>{text(item, "name")}</bdi> <SafeLink href={text(item, "installation-url")}>Open</SafeLink>
			</>
		),
	},
	{ key: "type", head: "Type", class: "wide", cell: (item) => text(item, "installation-type") },
	{ key: "state", head: "Problems", cell: (item) => <InstallationState installation={item} /> },
];

type Props = { readonly view: OrganizationView; readonly reason: string | undefined };

// Shows nothing if the site has no App and the organization has no installation.
export function Installations({ view, reason }: Props) {
	const { of, items } = useInstallations(view.org);
	const path = text(view.organization, "github-app-connect-path");
	if (!path && items.length === 0) {
		return null;
	}
	return (
		<section aria-label="GitHub App">
			<div class="list-head">
				<h2>GitHub App</h2>
				{path && !reason && (
					<a class="button" href={path}>
						Connect a GitHub account
					</a>
				)}
				{reason && (
					<Button reason={reason} onPress={() => undefined}>
						Connect a GitHub account
					</Button>
				)}
			</div>
			<Content of={of}>
				{() =>
					items.length === 0 ? (
						<p class="muted">No account. With the App, repositories at GitHub need no token.</p>
					) : (
						<>
							<Table caption="GitHub accounts" columns={columns} rows={items} stacked />
							{items.map((item) => (
								<Fold key={item.id} summary={`Workers of ${text(item, "name")}`} open={false}>
									{() => <ConnectionPools view={view} connection={item} reason={reason} />}
								</Fold>
							))}
						</>
					)
				}
			</Content>
		</section>
	);
}
