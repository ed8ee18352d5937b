// SPDX-License-Identifier: MPL-2.0
import { SelectField } from "../../components/field.tsx";
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type PageProps, queryChange } from "../../core/router.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { notificationKind } from "../notification_kind.tsx";
import { type OrganizationView, SettingsFrame } from "./settings_frame.tsx";

export default function Notifications({ params }: PageProps) {
	return (
		<SettingsFrame
			params={params}
			section="notifications"
			intro="Messages about the workspaces of a project. A team gets messages about change requests of the workspaces and projects that it was given access to. A workspace has its own in its settings."
		>
			{(view) => <Owners view={view} />}
		</SettingsFrame>
	);
}

function Owners({ view }: { readonly view: OrganizationView }) {
	const owner = useQuery().get("of") ?? "";
	const teams = useDocument(address(`${view.path}/teams`, { "page[size]": 100 }));
	const projects = useDocument(address(`${view.path}/projects`, { "page[size]": 100 }));
	const options = (word: string, type: string, items: readonly Resource[]) =>
		items.map((item) => [`${type}/${item.id}`, `${word} ${text(item, "name")}`] as const);
	const all = [...options("Project", "projects", projects.items), ...options("Team", "teams", teams.items)];
	const chosen = all.find(([key]) => key === owner)?.[0] ?? all[0]?.[0];
	const path = chosen && `/${chosen}/notification-configurations`;
	return (
		<Content of={projects}>
			{() => (
				<>
					<SelectField label="Project or team" options={all} value={chosen ?? ""} onValue={(value) => queryChange({ of: value }, false)} />
					{path && <ObjectList key={path} kind={notificationKind} url={address(path, { "page[size]": 100 })} createPath={path} />}
				</>
			)}
		</Content>
	);
}
