// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import type { LockAction, LockState } from "./lock_state.ts";

export const lockWords: Readonly<Record<LockAction, string>> = { lock: "Lock", unlock: "Unlock", "force-unlock": "Force-unlock" };

const longestReason = 512;

type Props = {
	readonly view: WorkspaceView;
	readonly state: LockState;
	readonly action: LockAction;
	readonly onClose: () => void;
};

export function LockDialog({ view, state, action, onClose }: Props) {
	const [reason, setReason] = useState("");
	const asksReason = action === "lock" || state.kind === "held";
	const act = async () => {
		const body = asksReason && reason ? { reason } : undefined;
		await change("POST", address(`/workspaces/${segment(view.workspace.id)}/actions/${action}`), body);
		announce(action === "lock" ? "The workspace is locked" : "The workspace is unlocked");
		await view.reload();
	};
	const needed = state.kind === "held" && !reason.trim() ? "a reason is needed" : undefined;
	return (
		<Dialog
			title={`${lockWords[action]} ${view.name}`}
			confirm={lockWords[action]}
			danger={action === "force-unlock"}
			reason={needed}
			onConfirm={act}
			onClose={onClose}
		>
			<LockText state={state} action={action} />
			{asksReason && <TextField label="Reason" hint="Others read it." maxLength={longestReason} value={reason} onValue={setReason} />}
		</Dialog>
	);
}

function LockText({ state, action }: { readonly state: LockState; readonly action: LockAction }) {
	if (action === "lock") {
		return <p>Runs that can apply wait until the workspace is unlocked. Plan-only runs go on.</p>;
	}
	if (action === "unlock") {
		return <p>Pending runs start in their order.</p>;
	}
	if (state.kind === "held") {
		return (
			<div class="note failure">
				<p>
					<strong>Terraform of the lost apply may still run on worker {state.hold.worker}.</strong> The next run starts at once. Then two of
					them can change the same resources, and the state of one is lost to the other.
				</p>
				<p>First see that the worker is gone, or cancel {state.hold.run}.</p>
			</div>
		);
	}
	return (
		<div class="note wait">
			<p>
				{state.kind === "person" ? state.who : "Somebody"} holds this lock, and may be writing a state at this moment. Ask first. Pending
				runs start at once.
			</p>
		</div>
	);
}
