// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { ProblemList } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { navigate } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import type { Draft } from "./draft.ts";
import { type Section, sectionPath } from "./sections.ts";
import { mayManage, needsAdmin } from "./settings_frame.tsx";

type Props = {
	readonly view: WorkspaceView;
	readonly draft: Draft;
	readonly section: Section;
	readonly fields: readonly string[]; // attributes with a field that shows their error
	readonly check?: string | undefined; // why it can't be saved yet
	readonly children: (error: ApiError | undefined) => ComponentChildren;
};

// Edited attributes of the workspace, saved by one request.
export function SettingsForm({ view, draft, section, fields, check, children }: Props) {
	const [error, setError] = useState<ApiError | undefined>();
	const save = async () => {
		try {
			setError(undefined);
			const body = { data: { type: "workspaces", attributes: draft.changes } };
			await change("PATCH", address(`/workspaces/${segment(view.workspace.id)}`), body);
			announce("The settings are saved");
			const name = draft.changes.name;
			draft.clear();
			if (typeof name === "string") {
				navigate(sectionPath(section, { org: view.org, ws: name }), true);
			} else {
				await view.reload();
			}
		} catch (failure) {
			setError(errorOf(failure));
		}
	};
	const others = error?.outside(fields.map((name) => `/data/attributes/${name}`)) ?? [];
	const reason = mayManage(view) ? (draft.isDirty ? check : "nothing has changed") : needsAdmin;
	return (
		<>
			<fieldset class="bare" disabled={!mayManage(view)}>
				{children(error)}
			</fieldset>
			{error && (others.length > 0 || error.problems.length === 0) && <ProblemList problems={others} message={error.message} />}
			<div class="actions">
				<Button kind="primary" reason={reason} onPress={save}>
					Save settings
				</Button>
				{draft.isDirty && <Button onPress={draft.clear}>Undo changes</Button>}
			</div>
		</>
	);
}
