// SPDX-License-Identifier: MPL-2.0
import { DialogButton } from "../../components/button.tsx";
import { counted } from "../../core/format.ts";
import { flag, may, number, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { DeleteDialog, DestroyPlanDialog } from "./destruction_dialogs.tsx";
import { mayManage, needsAdmin, ReadOnlyNote, SettingsFrame, WorkspaceForm } from "./settings_frame.tsx";

const fields: readonly FieldRow[] = [
	{
		name: "allow-destroy-plan",
		label: "Allow destroy plans",
		kind: "flag",
		hint: "Without it nobody can queue a plan that destroys everything.",
	},
	{
		name: "auto-destroy-at",
		label: "Destroy automatically at",
		kind: "moment",
		hint: "In the time zone of this browser. Empty: never.",
	},
	{
		name: "auto-destroy-activity-duration",
		label: "Destroy automatically after inactivity",
		kind: "text",
		nullable: true,
		hint: "Such as 14d or 48h since the latest change. Empty: never.",
	},
];

export default function Destruction({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="destruction">
			{(view) => (
				<>
					<ReadOnlyNote shown={!mayManage(view)} what="these settings" />
					<WorkspaceForm view={view} section="destruction" fields={fields} />
					<DestroyPlan view={view} />
					<DeleteWorkspace view={view} />
				</>
			)}
		</SettingsFrame>
	);
}

function destroyReason(view: WorkspaceView): string | undefined {
	if (!may(view.workspace, "can-queue-destroy")) {
		return "you need write access to this workspace";
	}
	return flag(view.workspace, "allow-destroy-plan") ? undefined : "destroy plans are not allowed here";
}

function DestroyPlan({ view }: { readonly view: WorkspaceView }) {
	return (
		<>
			<h3>Destroy the infrastructure</h3>
			<p>A destroy plan lists what it destroys. Nothing is destroyed before the plan is applied. The workspace stays.</p>
			<DialogButton kind="danger" reason={destroyReason(view)} dialog={(close) => <DestroyPlanDialog view={view} onClose={close} />}>
				Queue destroy plan
			</DialogButton>
		</>
	);
}

function DeleteWorkspace({ view }: { readonly view: WorkspaceView }) {
	const resources = number(view.workspace, "resource-count") ?? 0;
	const mayDelete = may(view.workspace, "can-destroy") ? undefined : needsAdmin;
	const busy = flag(view.workspace, "locked") ? `it is ${text(view.workspace, "locked-reason") ? "locked" : "in use"}` : undefined;
	const dialog = (force: boolean) => (close: () => void) => <DeleteDialog view={view} force={force} onClose={close} />;
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
				<DialogButton kind="danger" reason={mayDelete ?? busy ?? managed} dialog={dialog(false)}>
					Delete workspace
				</DialogButton>
				{managed && may(view.workspace, "can-force-delete") && (
					<DialogButton kind="danger" reason={mayDelete ?? busy} dialog={dialog(true)}>
						Force delete
					</DialogButton>
				)}
			</div>
		</>
	);
}
