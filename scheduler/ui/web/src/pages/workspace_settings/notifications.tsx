// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { announce } from "../../components/live_region.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, type Resource, text, texts } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { triggers } from "../notification_words.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { Deliveries } from "./deliveries.tsx";
import { ListSection } from "./list_section.tsx";
import { NotificationDialog } from "./notification_dialog.tsx";
import { destinationWord } from "./notification_form.ts";
import { mayManage, needsAdmin, SettingsFrame } from "./settings_frame.tsx";

export default function Notifications({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="notifications">
			{(view) => (mayManage(view) ? <NotificationList view={view} /> : <p class="note">To see notifications, {needsAdmin}.</p>)}
		</SettingsFrame>
	);
}

function NotificationList({ view }: { readonly view: WorkspaceView }) {
	const path = address(`/workspaces/${segment(view.workspace.id)}/notification-configurations`);
	const list = useDocument(path);
	return (
		<ListSection
			of={list}
			intro="Messages about runs of this workspace, to a webhook, a chat or by e-mail."
			empty="No notifications. Nobody is told about runs of this workspace."
			caption="Notifications"
			heads={["Name", "Events", "Last answer"]}
			add="Add notification"
			remove="Delete"
			name={(item) => text(item, "name")}
			cells={(item) => [
				<Name key="name" item={item} />,
				texts(item, "triggers")
					.map((trigger) => triggers.find(([key]) => key === trigger)?.[1] ?? trigger)
					.join(", ") || <span class="muted">None</span>,
				<Deliveries key="deliveries" item={item} />,
			]}
			actions={(item) => <Verify item={item} onDone={list.reload} />}
			removal={(item) => ({
				title: `Delete ${text(item, "name")}`,
				word: "Delete notification",
				text: "Its destination gets no more messages about this workspace.",
				url: address(`/notification-configurations/${segment(item.id)}`),
			})}
			edit={(props) => <NotificationDialog path={path} {...props} />}
		/>
	);
}

function Name({ item }: { readonly item: Resource }) {
	return (
		<>
			{text(item, "name")} {!flag(item, "enabled") && <Mark tone="muted">Disabled</Mark>}
			<div class="muted">{destinationWord(item)}</div>
		</>
	);
}

// Sends a test message. An error is the destination's answer.
function Verify({ item, onDone }: { readonly item: Resource; readonly onDone: () => Promise<unknown> }) {
	const [error, setError] = useState<ApiError | undefined>();
	const verify = async () => {
		try {
			setError(undefined);
			await change("POST", address(`/notification-configurations/${segment(item.id)}/actions/verify`));
			announce("The test message has arrived");
		} catch (failure) {
			setError(errorOf(failure));
		} finally {
			await onDone();
		}
	};
	return (
		<>
			<Button label={`Verify ${text(item, "name")}`} onPress={verify}>
				Verify
			</Button>
			{error && (
				<p class="field-error" role="alert">
					{error.message}
				</p>
			)}
		</>
	);
}
