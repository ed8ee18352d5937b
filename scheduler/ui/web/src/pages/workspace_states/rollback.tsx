// SPDX-License-Identifier: MPL-2.0
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { linkOf, number, type Resource } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { session } from "../../core/session.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { lockState } from "../workspace_settings/lock_state.ts";

type Props = { readonly view: WorkspaceView; readonly state: Resource; readonly onClose: () => void };

// A rollback needs the workspace's lock. It is taken for the time of the rollback, unless the user holds it already.
async function rollBack(view: WorkspaceView, state: Resource): Promise<Resource> {
	const path = address(`/workspaces/${segment(view.workspace.id)}`);
	const lock = lockState(view.workspace, store.get(linkOf(view.workspace, "locked-by")), session().userId);
	const isMine = lock.kind === "person" && lock.mine;
	if (!isMine) {
		await change("POST", `${path}/actions/lock`, { reason: `Rollback to serial ${number(state, "serial")}` });
	}
	try {
		const relation = { "rollback-state-version": { data: { type: "state-versions", id: state.id } } };
		const made = await change("PATCH", `${path}/state-versions`, { data: { type: "state-versions", relationships: relation } });
		return made.data as Resource;
	} finally {
		if (!isMine) {
			await change("POST", `${path}/actions/unlock`);
		}
		await view.reload();
	}
}

export function RollbackDialog({ view, state, onClose }: Props) {
	const serial = count(number(state, "serial") ?? 0);
	const roll = async () => {
		const made = await rollBack(view, state);
		announce(`The state is rolled back to serial ${serial}`);
		navigate(pathTo("/app/:org/workspaces/:ws/states/:state", { org: view.org, ws: view.name, state: made.id }));
	};
	return (
		<Dialog title={`Roll back to serial ${serial}`} confirm="Roll back" danger onConfirm={roll} onClose={onClose}>
			<p>The workspace is locked, a new version with the content of serial {serial} becomes the current state, and it is unlocked.</p>
			<div class="note wait">
				<p>
					No resource changes. Terraform no longer knows resources that were created since: a later plan may create them again. Runs that
					were planned before can't be applied.
				</p>
			</div>
		</Dialog>
	);
}
