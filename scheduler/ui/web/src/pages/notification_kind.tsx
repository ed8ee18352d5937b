// SPDX-License-Identifier: MPL-2.0
// Notification configurations of workspaces, projects and teams.

import { Button } from "../components/button.tsx";
import { FieldError } from "../components/field.tsx";
import { Fold } from "../components/fold.tsx";
import { announce } from "../components/live_region.tsx";
import { Mark } from "../components/status_mark.tsx";
import { TimeAgo } from "../components/time_ago.tsx";
import { address, change, segment } from "../core/api.ts";
import { useAttempt } from "../core/hooks.ts";
import { flag, list, type Resource, text, textIn, texts } from "../core/resource.ts";
import type { Values } from "../objects/fields.ts";
import { type ObjectKind, wordOf } from "../objects/kinds.ts";

const destinations = [
	["generic", "Webhook"],
	["slack", "Slack"],
	["microsoft-teams", "Microsoft Teams"],
	["email", "E-mail"],
] as const;

const triggers = [
	["run:created", "Run created"],
	["run:planning", "Plan starts"],
	["run:needs_attention", "Needs attention"],
	["run:applying", "Apply starts"],
	["run:completed", "Run completed"],
	["run:errored", "Run errored"],
	["assessment:drifted", "Drift found"],
	["assessment:check_failure", "Checks failed"],
	["assessment:failed", "Health assessment failed"],
	["workspace:auto_destroy_reminder", "Reminder before an automatic destroy"],
	["workspace:auto_destroy_run_results", "Result of an automatic destroy"],
	["workspace:schedule_stopped", "Schedule stopped"],
	["change_request:created", "Change request created"],
] as const;

type Delivery = Readonly<Record<string, unknown>>;

function Line({ delivery }: { readonly delivery: Delivery }) {
	const ok = String(delivery.successful) === "true";
	return (
		<>
			<Mark tone={ok ? "success" : "failure"}>{ok ? "Delivered" : "Failed"}</Mark> {String(delivery.code ?? "")}{" "}
			<TimeAgo time={delivery["sent-at"]} />
		</>
	);
}

// The answers to the last messages, the newest first.
function Deliveries({ item }: { readonly item: Resource }) {
	const sentAt = (delivery: Delivery) => textIn(delivery, "sent-at");
	const deliveries = [...(list(item, "delivery-responses") as readonly Delivery[])].sort((a, b) => sentAt(b).localeCompare(sentAt(a)));
	const [newest] = deliveries;
	if (!newest) {
		return <span class="muted">None yet</span>;
	}
	return (
		<Fold open={false} summary={<Line delivery={newest} />}>
			{() =>
				deliveries.map((delivery, i) => (
					<div key={`${sentAt(delivery)} ${i}`}>
						<Line delivery={delivery} />
						<pre>{textIn(delivery, "body") || "(empty)"}</pre>
					</div>
				))
			}
		</Fold>
	);
}

// Sends a test message. The error is the answer of the destination.
function Verify({ item, reload }: { readonly item: Resource; readonly reload: () => Promise<void> }) {
	const { error, attempt } = useAttempt();
	const verify = async () => {
		await attempt(async () => {
			await change("POST", address(`${notificationKind.item(item.id)}/actions/verify`));
			announce("The test message has arrived");
		});
		await reload();
	};
	return (
		<>
			<FieldError>{error?.message}</FieldError>
			<Button label={`Verify ${text(item, "name")}`} onPress={verify}>
				Verify
			</Button>
		</>
	);
}

const isMail = (values: Values) => values["destination-type"] === "email";

export const notificationKind: ObjectKind = {
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
			hint: "Messages to a webhook are signed with it. It is never shown again; empty: the stored one stays.",
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
					.join(", ") || <span class="muted">None</span>,
		},
		{ key: "answer", head: "Last answer", cell: (item) => <Deliveries item={item} /> },
	],
	kept: "users",
	removes: "Its destination gets no more messages.",
	actions: (item, reload) => <Verify item={item} reload={reload} />,
};
