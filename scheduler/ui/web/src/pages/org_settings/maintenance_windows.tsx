// SPDX-License-Identifier: MPL-2.0
import type { PageProps } from "../../core/router.ts";
import { MaintenanceWindows } from "../maintenance_windows.tsx";
import { SettingsFrame, without } from "./settings_frame.tsx";

export default function OrganizationWindows({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="maintenance-windows">
			{(view) => (
				<MaintenanceWindows
					path={view.path}
					reason={without(view, "can-update", "change the organization")}
					intro="When applies may start, in projects and workspaces without windows of their own. Without any, they start at all times."
				/>
			)}
		</SettingsFrame>
	);
}
