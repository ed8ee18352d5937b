// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { segment } from "../../core/api.ts";
import { may } from "../../core/resource.ts";
import { navigate, type Params, pathTo } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { SettingsLayout } from "../../objects/settings_layout.tsx";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";

type Props = {
	readonly params: Params;
	readonly section: Section;
	readonly children: (view: WorkspaceView) => ComponentChildren;
};

// The frame of a page of settings: the links to the others, and the page's heading.
export function SettingsFrame({ params, section, children }: Props) {
	return (
		<Frame params={params} page="settings" word={sectionWords[section]}>
			{(view) => (
				<SettingsLayout
					label="Settings of the workspace"
					pages={Object.entries(sectionWords).map(([key, word]) => ({ key, word }))}
					shown={section}
					below={pathTo("/app/:org/workspaces/:ws/settings", params)}
				>
					<h2>{sectionWords[section]}</h2>
					{children(view)}
				</SettingsLayout>
			)}
		</Frame>
	);
}

export const needsAdmin = "you need admin access to this workspace";

export function mayManage(view: WorkspaceView): boolean {
	return may(view.workspace, "can-update");
}

type FormProps = { readonly view: WorkspaceView; readonly section: Section; readonly fields: readonly FieldRow[] };

// Attributes of the workspace. The page follows the workspace to a new name.
export function WorkspaceForm({ view, section, fields }: FormProps) {
	const saved = ({ name }: Readonly<Record<string, unknown>>) =>
		typeof name === "string" ? navigate(sectionPath(section, { org: view.org, ws: name }), true) : view.reload();
	return (
		<SettingsForm
			kind={{ type: "workspaces", fields, item: (id) => `/workspaces/${segment(id)}` }}
			item={view.workspace}
			reason={mayManage(view) ? undefined : needsAdmin}
			word="Save settings"
			said="The settings are saved"
			onSaved={saved}
		/>
	);
}

export function ReadOnlyNote({ shown, what }: { readonly shown: boolean; readonly what: string }) {
	return shown ? (
		<p class="note">
			You may read {what} and not change them: {needsAdmin}.
		</p>
	) : null;
}

// The settings of a workspace, in the order of their links.

export const sectionWords = {
	general: "General",
	"version-control": "Version control",
	locking: "Locking",
	"run-tasks": "Run tasks",
	"team-access": "Team access",
	notifications: "Notifications",
	"remote-state": "Remote state",
	identity: "Identity",
	schedules: "Schedules",
	destruction: "Destruction",
} as const;

export type Section = keyof typeof sectionWords;

export function sectionPath(section: Section, params: Params): string {
	return pathTo("/app/:org/workspaces/:ws/settings/", params) + section;
}
