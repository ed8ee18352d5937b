// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { AccessDialog } from "./access_dialog.tsx";
import { customDetails, detailWord, levelWord } from "./access_levels.ts";
import { ListSection } from "./list_section.tsx";
import { mayManage, needsAdmin, SettingsFrame } from "./settings_frame.tsx";

export default function TeamAccess({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="team-access">
			{(view) => <AccessList view={view} />}
		</SettingsFrame>
	);
}

function Detail({ access }: { readonly access: Resource }) {
	if (text(access, "access") !== "custom") {
		return <>{levelWord(text(access, "access"))}</>;
	}
	return (
		<>
			Custom
			<div class="muted">
				{customDetails
					.map((detail) => detailWord(detail, access.attributes[detail.name]))
					.filter(Boolean)
					.join(", ")}
			</div>
		</>
	);
}

function AccessList({ view }: { readonly view: WorkspaceView }) {
	const accesses = useDocument(address("/team-workspaces", { "filter[workspace][id]": view.workspace.id, "page[size]": 100 }));
	const teams = useDocument(address(`/organizations/${segment(view.org)}/teams`, { "page[size]": 100 }));
	const teamName = (access: Resource) => text(store.get(linkOf(access, "team")), "name") || linkOf(access, "team")?.id || "";
	const given = new Set(accesses.items.map((access) => linkOf(access, "team")?.id));
	const free = teams.items.filter((team) => !given.has(team.id) && text(team, "name") !== "owners");
	return (
		<ListSection
			of={accesses}
			intro="The owners may do everything. Other teams also have what their project and the organization give them."
			empty="No team has access of its own to this workspace."
			caption="Teams with access"
			heads={["Team", "Access"]}
			add="Give access"
			reason={mayManage(view) ? undefined : needsAdmin}
			noneLeft={teams.asOf > 0 && free.length === 0 ? "no other team is left" : undefined}
			name={teamName}
			cells={(item) => [teamName(item), <Detail key="detail" access={item} />]}
			removal={(item) => ({
				title: `Remove access of ${teamName(item)}`,
				word: "Remove access",
				text: "Its members keep what their project, the organization and other teams give them.",
				url: address(`/team-workspaces/${segment(item.id)}`),
			})}
			edit={(props) => <AccessDialog workspace={view.workspace.id} teams={free} name={props.item ? teamName(props.item) : ""} {...props} />}
		/>
	);
}
