// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument } from "../../core/hooks.ts";
import { list, type Members, membersOf, number, type Resource, text } from "../../core/resource.ts";
import type { ObjectKind } from "../../objects/kinds.ts";

type Mapped = { readonly id: string; readonly name: string; readonly paused: boolean };

function mappedOf(group: Resource): readonly Mapped[] {
	return list(group, "mapped-teams").map((item) => {
		const team: Members = membersOf(item);
		return { id: String(team.id), name: `${team.organization} / ${team.name}`, paused: team.paused === true };
	});
}

const mappingOf = (team: string) => address(`/admin/teams/${segment(team)}/scim-group-mapping`);

function bodyOf(attributes: object): object {
	return { data: { type: "scim-group-mappings", attributes } };
}

type DialogProps = { readonly group: Resource; readonly reload: () => Promise<void>; readonly onClose: () => void };

// The teams of an organization whose members people manage.
function useTeams(organization: string): readonly (readonly [string, string])[] {
	const teams = useDocument(organization ? address(`/organizations/${segment(organization)}/teams`, { "page[size]": 100 }) : undefined);
	return teams.items
		.filter((team) => text(team, "name") !== "owners" && team.attributes["scim-linked"] !== true)
		.map((team) => [team.id, text(team, "name")] as const);
}

function MapDialog({ group, reload, onClose }: DialogProps) {
	const [typed, setTyped] = useState("");
	const [organization, setOrganization] = useState("");
	const [chosen, setChosen] = useState("");
	const teams = useTeams(organization);
	const team = chosen || (teams[0]?.[0] ?? "");
	return (
		<Dialog
			title={`Map a team to ${text(group, "name")}`}
			confirm="Map team"
			reason={team ? undefined : "choose a team"}
			onConfirm={async () => {
				await change("POST", mappingOf(team), bodyOf({ "scim-group-id": group.id }));
				announce("The team follows the group");
				await reload();
			}}
			onClose={onClose}
		>
			<p>The members of the group replace the people in the team. Nobody can edit the team's members by hand from then on.</p>
			<TextField label="Organization" value={typed} onValue={setTyped} />
			<Button onPress={() => setOrganization(typed.trim())}>Show its teams</Button>
			{organization && <SelectField label="Team" value={team} options={teams} onValue={setChosen} />}
		</Dialog>
	);
}

function TeamsDialog({ group, reload, onClose }: DialogProps) {
	const act = async (method: "PATCH" | "DELETE", team: Mapped) => {
		await change(method, mappingOf(team.id), method === "PATCH" ? bodyOf({ "scim-sync-paused": !team.paused }) : undefined);
		announce("Done");
		await reload();
		onClose();
	};
	return (
		<Dialog title={`Teams that follow ${text(group, "name")}`} onClose={onClose}>
			<ul>
				{mappedOf(group).map((team) => (
					<li key={team.id}>
						{team.name} {team.paused && "(paused) "}
						<Button label={`${team.paused ? "Resume" : "Pause"} ${team.name}`} onPress={() => act("PATCH", team)}>
							{team.paused ? "Resume" : "Pause"}
						</Button>
						<Button label={`Unmap ${team.name}`} onPress={() => act("DELETE", team)}>
							Unmap
						</Button>
					</li>
				))}
			</ul>
			<p>A team that is unmapped keeps its members.</p>
		</Dialog>
	);
}

type ActionProps = {
	readonly group: Resource;
	readonly admins: string; // the id of the group of site admins
	readonly reload: () => Promise<void>;
	readonly reloadSettings: () => Promise<void>;
};

function GroupActions({ group, admins, reload, reloadSettings }: ActionProps) {
	const [asked, setAsked] = useState<"map" | "teams" | "admins" | undefined>();
	const close = () => setAsked(undefined);
	const name = text(group, "name");
	const isAdmins = admins === group.id;
	const setAdmins = async () => {
		const attributes = { "site-admin-group-scim-id": isAdmins ? null : group.id };
		await change("PATCH", address("/admin/scim-settings"), { data: { type: "scim-settings", attributes } });
		announce("Done");
		await reloadSettings();
	};
	const mapped = mappedOf(group).length > 0;
	return (
		<>
			<Button
				label={`Map a team to ${name}`}
				reason={isAdmins ? "it is the group of site admins" : undefined}
				onPress={() => setAsked("map")}
			>
				Map a team
			</Button>
			{mapped && (
				<Button label={`Teams of ${name}`} onPress={() => setAsked("teams")}>
					Teams
				</Button>
			)}
			<Button label={`${isAdmins ? "End site admins by" : "Make site admins by"} ${name}`} onPress={() => setAsked("admins")}>
				{isAdmins ? "End site admins" : "Make site admins"}
			</Button>
			{asked === "map" && <MapDialog group={group} reload={reload} onClose={close} />}
			{asked === "teams" && <TeamsDialog group={group} reload={reload} onClose={close} />}
			{asked === "admins" && (
				<Dialog
					title={isAdmins ? `End site admins by ${name}` : `Make site admins by ${name}`}
					confirm="Confirm"
					danger
					onConfirm={setAdmins}
					onClose={close}
				>
					<p>
						{isAdmins
							? "Its members are no site admins any more, except those whom somebody made site admins by hand."
							: "All members of the group become site admins, as long as they are in it."}
					</p>
				</Dialog>
			)}
		</>
	);
}

export function groupKind(admins: string, reloadSettings: () => Promise<void>): ObjectKind {
	return {
		type: "scim-groups",
		one: "group",
		many: "Groups",
		empty: "The identity provider has sent no group.",
		name: (item) => text(item, "name"),
		item: () => "",
		fields: [],
		columns: [
			{ key: "members", head: "Members", class: "number", cell: (item) => count(number(item, "members-count") ?? 0) },
			{
				key: "teams",
				head: "Teams",
				class: "wide",
				cell: (item) =>
					mappedOf(item)
						.map((team) => team.name)
						.join(", ") || <span class="muted">None</span>,
			},
		],
		actions: (item, reload) => <GroupActions group={item} admins={admins} reload={reload} reloadSettings={reloadSettings} />,
		keeps: () => "the identity provider deletes its groups",
		removes: "",
	};
}
