// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { notificationKind } from "../notification_kind.tsx";
import { mayManage, needsAdmin, SettingsFrame } from "./settings_frame.tsx";

const kind: ObjectKind = {
	...notificationKind,
	empty: "No notifications. Nobody is told about runs of this workspace.",
	add: "Add notification",
	create: "Save notification",
	save: "Save notification",
	confirmRemove: "Delete notification",
	removes: "Its destination gets no more messages about this workspace.",
};

export default function Notifications({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="notifications">
			{(view) => {
				const path = `/workspaces/${segment(view.workspace.id)}/notification-configurations`;
				const intro = "Messages about runs of this workspace, to a webhook, a chat or by e-mail.";
				return mayManage(view) ? (
					<ObjectList kind={kind} url={address(path)} createPath={path} intro={intro} />
				) : (
					<p class="note">To see notifications, {needsAdmin}.</p>
				);
			}}
		</SettingsFrame>
	);
}
