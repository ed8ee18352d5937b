// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CheckField, TextField } from "../../components/field.tsx";
import { counted } from "../../core/format.ts";
import { flag, may, number, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { DeleteDialog, DestroyPlanDialog } from "./destruction_dialogs.tsx";
import { type Draft, useDraft } from "./draft.ts";
import { SettingsForm } from "./settings_form.tsx";
import { mayManage, needsAdmin, ReadOnlyNote, SettingsFrame } from "./settings_frame.tsx";

export default function Destruction({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="destruction">
			{(view) => (
				<>
					<ReadOnlyNote shown={!mayManage(view)} what="these settings" />
					<DestroySettings view={view} />
					<DestroyPlan view={view} />
					<DeleteWorkspace view={view} />
				</>
			)}
		</SettingsFrame>
	);
}

// The value of <input type="datetime-local"> is a time of the browser's zone without a zone.
function localTime(time: string): string {
	const at = Date.parse(time);
	return Number.isNaN(at) ? "" : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function timeSet(draft: Draft, value: string): void {
	draft.set("auto-destroy-at", value ? new Date(value).toISOString() : null);
}

const fields = ["auto-destroy-at", "auto-destroy-activity-duration"];

function DestroySettings({ view }: { readonly view: WorkspaceView }) {
	const draft = useDraft(view.workspace);
	return (
		<SettingsForm view={view} draft={draft} section="destruction" fields={fields}>
			{(error) => (
				<>
					<CheckField
						label="Allow destroy plans"
						hint="Without it nobody can queue a plan that destroys everything."
						checked={draft.flag("allow-destroy-plan")}
						onChecked={(on) => draft.set("allow-destroy-plan", on)}
					/>
					<TextField
						label="Destroy automatically at"
						type="datetime-local"
						hint="In the time zone of this browser. Empty: never."
						error={error}
						pointer="/data/attributes/auto-destroy-at"
						value={localTime(draft.text("auto-destroy-at"))}
						onValue={(value) => timeSet(draft, value)}
					/>
					<TextField
						label="Destroy automatically after inactivity"
						hint="Such as 14d or 48h since the latest change. Empty: never."
						error={error}
						pointer="/data/attributes/auto-destroy-activity-duration"
						value={draft.text("auto-destroy-activity-duration")}
						onValue={(value) => draft.set("auto-destroy-activity-duration", value || null)}
					/>
				</>
			)}
		</SettingsForm>
	);
}

function destroyReason(view: WorkspaceView): string | undefined {
	if (!may(view.workspace, "can-queue-destroy")) {
		return "you need write access to this workspace";
	}
	return flag(view.workspace, "allow-destroy-plan") ? undefined : "destroy plans are not allowed here";
}

function DestroyPlan({ view }: { readonly view: WorkspaceView }) {
	const [asks, setAsks] = useState(false);
	return (
		<>
			<h3>Destroy the infrastructure</h3>
			<p>A destroy plan lists what it destroys. Nothing is destroyed before the plan is applied. The workspace stays.</p>
			<Button kind="danger" reason={destroyReason(view)} onPress={() => setAsks(true)}>
				Queue destroy plan
			</Button>
			{asks && <DestroyPlanDialog view={view} onClose={() => setAsks(false)} />}
		</>
	);
}

function DeleteWorkspace({ view }: { readonly view: WorkspaceView }) {
	const [asked, setAsked] = useState<"safe" | "force" | undefined>();
	const resources = number(view.workspace, "resource-count") ?? 0;
	const mayDelete = may(view.workspace, "can-destroy") ? undefined : needsAdmin;
	const busy = flag(view.workspace, "locked") ? `it is ${text(view.workspace, "locked-reason") ? "locked" : "in use"}` : undefined;
	const managed = resources > 0 ? `it manages ${counted(resources, "resource")}` : undefined;
	return (
		<>
			<h3>Delete the workspace</h3>
			<p>Its runs, states, variables and logs are lost.</p>
			{managed && (
				<p>
					Its state has {counted(resources, "resource")}. A deletion destroys nothing: without the workspace nothing manages them. Queue a
					destroy plan first.
				</p>
			)}
			<div class="actions">
				<Button kind="danger" reason={mayDelete ?? busy ?? managed} onPress={() => setAsked("safe")}>
					Delete workspace
				</Button>
				{managed && may(view.workspace, "can-force-delete") && (
					<Button kind="danger" reason={mayDelete ?? busy} onPress={() => setAsked("force")}>
						Force delete
					</Button>
				)}
			</div>
			{asked && <DeleteDialog view={view} force={asked === "force"} onClose={() => setAsked(undefined)} />}
		</>
	);
}
