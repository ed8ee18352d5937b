// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { flag, list, type Resource, text, texts } from "../../core/resource.ts";
import { type PageProps, queryChange } from "../../core/router.ts";
import type { Values } from "../../objects/fields.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { destinations, triggers } from "../notification_words.ts";
import { type OrganizationView, SettingsFrame } from "./settings_frame.tsx";
import { wordOf } from "./words.ts";

const isMail = (values: Values) => values["destination-type"] === "email";

function Answer({ item }: { readonly item: Resource }) {
	const last = list(item, "delivery-responses").at(-1) as Record<string, string> | undefined;
	if (!last) {
		return <span class="muted">Nothing sent yet</span>;
	}
	return (
		<>
			<Mark tone={last.successful === "true" ? "success" : "failure"}>{last.code}</Mark> <TimeAgo time={last["sent-at"]} />
		</>
	);
}

// Sends a test message. The error is the answer of the destination.
function Verify({ item, reload }: { readonly item: Resource; readonly reload: () => Promise<void> }) {
	const [error, setError] = useState<ApiError | undefined>();
	const verify = async () => {
		try {
			setError(undefined);
			await change("POST", address(`${kind.item(item.id)}/actions/verify`));
			announce("The test message has arrived");
		} catch (failure) {
			setError(errorOf(failure));
		}
		await reload();
	};
	return (
		<>
			{error && (
				<span class="field-error" role="alert">
					{error.message}
				</span>
			)}
			<Button label={`Verify ${text(item, "name")}`} onPress={verify}>
				Verify
			</Button>
		</>
	);
}

const kind: ObjectKind = {
	type: "notification-configurations",
	one: "notification",
	many: "Notifications",
	empty: "No notifications. Nobody is told about its runs.",
	name: (item) => text(item, "name"),
	item: (id) => `/notification-configurations/${segment(id)}`,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "destination-type", label: "Destination", kind: "choice", options: destinations, initial: "generic", only: "create" },
		{ name: "url", label: "URL", kind: "url", shown: (values) => !isMail(values) },
		{
			name: "token",
			label: "Token",
			kind: "secret",
			hint: "Messages to a webhook are signed with it. It is never shown again.",
			shown: (values) => !isMail(values),
		},
		{ name: "email-addresses", label: "E-mail addresses", kind: "list", hint: "One on each line.", shown: isMail },
		{ name: "triggers", label: "Events", kind: "set", options: triggers, initial: ["run:needs_attention", "run:errored"] },
		{ name: "enabled", label: "Enabled", kind: "flag", initial: true, hint: "Saving an enabled notification sends a test message." },
	],
	columns: [
		{
			key: "destination",
			head: "Destination",
			cell: (item) => (
				<>
					{wordOf(destinations, text(item, "destination-type"))} {!flag(item, "enabled") && <Mark tone="muted">Disabled</Mark>}
				</>
			),
		},
		{
			key: "triggers",
			head: "Events",
			class: "wide",
			cell: (item) =>
				texts(item, "triggers")
					.map((key) => wordOf(triggers, key))
					.join(", "),
		},
		{ key: "answer", head: "Last answer", cell: (item) => <Answer item={item} /> },
	],
	kept: "users",
	removes: "Its destination gets no more messages.",
	actions: (item, reload) => <Verify item={item} reload={reload} />,
};

export default function Notifications({ params }: PageProps) {
	return (
		<SettingsFrame
			params={params}
			section="notifications"
			intro="Messages about the runs of a project, or of the workspaces that a team may see. A workspace has its own in its settings."
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
					{path && <ObjectList key={path} kind={kind} url={address(path, { "page[size]": 100 })} createPath={path} />}
				</>
			)}
		</Content>
	);
}
