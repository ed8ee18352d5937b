// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { address, change } from "../../core/api.ts";
import type { Resource } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import type { WorkspaceView } from "./frame.tsx";
import { emptyOrder, modes, type QueueOrder, runBody } from "./queue_order.ts";

export type QueuePlanProps = { readonly view: WorkspaceView; readonly onClose: () => void };

// The dialog that queues a run. It leads to the run's page.
export function QueuePlan({ view, onClose }: QueuePlanProps) {
	const [order, setOrder] = useState<QueueOrder>(emptyOrder);
	const set = (changes: Partial<QueueOrder>) => setOrder({ ...order, ...changes });
	const queue = async () => {
		const document = await change("POST", address("/runs"), runBody(order, view.workspace.id));
		const run = (document.data as Resource).id;
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run }));
	};
	return (
		<Dialog title="Queue Plan" confirm="Queue Plan" onConfirm={queue} onClose={onClose}>
			<SelectField label="Mode" value={order.mode} options={modes} onValue={(mode) => set({ mode: mode as QueueOrder["mode"] })} />
			<TextField label="Message" value={order.message} onValue={(message) => set({ message })} />
		</Dialog>
	);
}
