// SPDX-License-Identifier: MPL-2.0
import { announce } from "../../components/live_region.tsx";
import { TypedDialog } from "../../components/typed_dialog.tsx";
import { address, change, segment } from "../../core/api.ts";
import { counted } from "../../core/format.ts";
import { number, type Resource } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { deleting } from "../workspace/renamed.ts";

type Props = { readonly view: WorkspaceView; readonly onClose: () => void };

export function DestroyPlanDialog({ view, onClose }: Props) {
	const queue = async () => {
		const relationships = { workspace: { data: { type: "workspaces", id: view.workspace.id } } };
		const made = await change("POST", address("/runs"), { data: { type: "runs", attributes: { "is-destroy": true }, relationships } });
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run: (made.data as Resource).id }));
	};
	return (
		<TypedDialog name={view.name} title="Queue destroy plan" confirm="Queue destroy plan" onConfirm={queue} onClose={onClose}>
			<p>The plan lists every resource of {view.name}.</p>
			{view.workspace.attributes["auto-apply"] === true && (
				<p class="note failure">Auto-apply is on: the plan is applied without a person, and everything is destroyed.</p>
			)}
		</TypedDialog>
	);
}

export function DeleteDialog({ view, force, onClose }: Props & { readonly force: boolean }) {
	const remove = async () => {
		const { id } = view.workspace;
		const path = address(`/workspaces/${segment(id)}`);
		deleting.add(id);
		await change(force ? "DELETE" : "POST", force ? path : `${path}/actions/safe-delete`).catch((failure) => {
			deleting.delete(id);
			throw failure;
		});
		announce("The workspace is deleted");
		navigate(pathTo("/app/:org/workspaces", { org: view.org }), true);
	};
	const resources = counted(number(view.workspace, "resource-count") ?? 0, "resource");
	const word = force ? "Force delete" : "Delete workspace";
	return (
		<TypedDialog name={view.name} title={`${word} ${view.name}`} confirm={word} onConfirm={remove} onClose={onClose}>
			<p>Its runs, states, variables and logs are lost. This can't be undone.</p>
			{force && <p class="note failure">Its state has {resources}. Nothing is destroyed, and no state knows of them any more.</p>}
		</TypedDialog>
	);
}
