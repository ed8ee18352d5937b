// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CheckList } from "../../components/check_list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { linksOf, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { type OrganizationView, SettingsFrame } from "./settings_frame.tsx";

function teamsOf(item: Resource): string {
	return linksOf(item, "teams")
		.map((link) => text(store.get(link), "name") || link.id)
		.join(", ");
}

const kind: ObjectKind = {
	type: "organization-memberships",
	one: "member",
	many: "Members",
	empty: "No members match.",
	name: (item) => text(item, "username") || text(item, "email"),
	item: (id) => `/organization-memberships/${segment(id)}`,
	fields: [],
	columns: [
		{ key: "email", head: "E-mail", class: "wide", cell: (item) => text(item, "email") },
		{
			key: "status",
			head: "Status",
			cell: (item) => (text(item, "status") === "active" ? <Mark tone="success">Active</Mark> : <Mark tone="wait">Invited</Mark>),
		},
		{ key: "teams", head: "Teams", cell: (item) => teamsOf(item) || <span class="muted">None</span> },
		{ key: "since", head: "Since", class: "wide", cell: (item) => <TimeAgo time={item.attributes["created-at"]} /> },
	],
	remove: "Remove",
	removes: "The user loses access to this organization. The account stays.",
};

export default function Members({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="members">
			{(view) => <MemberList view={view} />}
		</SettingsFrame>
	);
}

function MemberList({ view }: { readonly view: OrganizationView }) {
	const query = useQuery();
	const [inviting, setInviting] = useState(false);
	const [round, setRound] = useState(0);
	const url = address(`${view.path}/organization-memberships`, { "page[number]": query.get("page") ?? undefined, include: "user,teams" });
	return (
		<>
			<div class="list-head">
				<span />
				<Button kind="primary" onPress={() => setInviting(true)}>
					Invite
				</Button>
			</div>
			<ObjectList key={round} kind={kind} url={url} createPath="" />
			{inviting && <InviteDialog view={view} onDone={() => setRound(round + 1)} onClose={() => setInviting(false)} />}
		</>
	);
}

function InviteDialog({
	view,
	onDone,
	onClose,
}: {
	readonly view: OrganizationView;
	readonly onDone: () => void;
	readonly onClose: () => void;
}) {
	const teams = useDocument(address(`${view.path}/teams`, { "page[size]": 100 }));
	const [email, setEmail] = useState("");
	const [chosen, setChosen] = useState<readonly string[]>([]);
	const invite = async () => {
		const data = chosen.map((id) => ({ type: "teams", id }));
		await change("POST", address(`${view.path}/organization-memberships`), {
			data: { type: kind.type, attributes: { email }, relationships: { teams: { data } } },
		});
		announce(`${email} is invited`);
		onDone();
	};
	return (
		<Dialog title="Invite a member" confirm="Invite" fields={["/data/attributes/email"]} onConfirm={invite} onClose={onClose}>
			{(error) => (
				<>
					<TextField label="E-mail" type="email" error={error} pointer="/data/attributes/email" value={email} onValue={setEmail} />
					<CheckList
						legend="Teams"
						options={teams.items.map((team) => [team.id, text(team, "name")] as const)}
						chosen={chosen}
						error={error}
						onChosen={setChosen}
					/>
				</>
			)}
		</Dialog>
	);
}
