// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, may, type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";

const levels = [
	["read", "Read: see its workspaces"],
	["write", "Write: also queue and apply runs, change variables and states"],
	["maintain", "Maintain: also create, move and delete workspaces, and change their settings"],
	["admin", "Admin: also settings and access of teams of the project"],
] as const;

const custom = ["custom", "Custom: the details that the API has"] as const;

function levelWord(level: string): string {
	return [...levels, custom].find(([key]) => key === level)?.[1] ?? level;
}

const kind: ObjectKind = {
	type: "team-projects",
	one: "access",
	many: "Access of teams",
	empty: "No team has access to this project. Teams can have access to the organization or to single workspaces.",
	name: (item) => text(store.get(linkOf(item, "team")), "name") || (linkOf(item, "team")?.id ?? ""),
	item: (id) => `/team-projects/${segment(id)}`,
	fields: [{ name: "access", label: "Access", kind: "choice", options: [...levels, custom], only: "update" }],
	columns: [{ key: "access", head: "Access", cell: (item) => levelWord(text(item, "access")) }],
	remove: "Remove",
	removes: "Its members keep what the organization and other teams give them.",
};

type GiveProps = {
	readonly project: Resource;
	readonly teams: readonly Resource[];
	readonly onDone: () => void;
	readonly onClose: () => void;
};

function GiveDialog({ project, teams, onDone, onClose }: GiveProps) {
	const [chosen, setChosen] = useState("");
	const [access, setAccess] = useState("read");
	const options = teams.map((team) => [team.id, text(team, "name")] as const).filter(([, name]) => name !== "owners");
	const give = async () => {
		const relationships = { team: { data: { type: "teams", id: chosen } }, project: { data: { type: "projects", id: project.id } } };
		await change("POST", address("/team-projects"), { data: { type: kind.type, attributes: { access }, relationships } });
		announce("The access is saved");
		onDone();
	};
	return (
		<Dialog
			title="Give access"
			confirm="Give access"
			reason={chosen ? undefined : "no team is chosen"}
			fields={["/data/relationships/team", "/data/attributes/access"]}
			onConfirm={give}
			onClose={onClose}
		>
			{(error) => (
				<>
					<SelectField
						label="Team"
						options={[["", "Choose"], ...options]}
						value={chosen}
						onValue={setChosen}
						error={error}
						pointer="/data/relationships/team"
					/>
					<SelectField label="Access" options={levels} value={access} onValue={setAccess} error={error} pointer="/data/attributes/access" />
				</>
			)}
		</Dialog>
	);
}

// The access of teams to all workspaces of a project.
export function ProjectAccess({ org, project }: { readonly org: string; readonly project: Resource }) {
	const teams = useDocument(address(`/organizations/${segment(org)}/teams`, { "page[size]": 100 })); // for their names, too
	const [giving, setGiving] = useState(false);
	const [round, setRound] = useState(0);
	const reason = may(project, "can-manage-teams") ? undefined : "you need admin access to the project";
	const url = address("/team-projects", { "filter[project][id]": project.id, "page[size]": 100 });
	return (
		<>
			<div class="page-head">
				<h2>Access of teams</h2>
				<Button reason={reason} onPress={() => setGiving(true)}>
					Give access
				</Button>
			</div>
			<ObjectList key={round} kind={kind} url={url} createPath="" reason={reason} />
			{giving && <GiveDialog project={project} teams={teams.items} onDone={() => setRound(round + 1)} onClose={() => setGiving(false)} />}
		</>
	);
}
