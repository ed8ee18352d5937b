// SPDX-License-Identifier: MPL-2.0

import { runStatuses } from "generated/statuses";
import { useId, useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Fold } from "../../components/fold.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linkOf, may, type Resource } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "./frame.tsx";
import { lockOf } from "./frame_links.ts";
import { QueueAdvanced } from "./queue_advanced.tsx";
import { emptyOrder, modes, orderReason, type QueueFacts, type QueueMode, type QueueOrder, runBody, whatFollows } from "./queue_order.ts";

export type QueuePlanProps = {
	readonly view: WorkspaceView;
	readonly order?: Partial<QueueOrder>; // what is asked for at first
	readonly onClose: () => void;
};

const openStatuses = runStatuses
	.filter((row) => row.group === "open")
	.map((row) => row.name)
	.join(",");

function useFacts(view: WorkspaceView): QueueFacts {
	const { workspace } = view;
	const open = useDocument(address(`/workspaces/${segment(workspace.id)}/runs`, { "filter[status]": openStatuses, "page[size]": 1 }));
	const lock = lockOf(workspace, store.get(linkOf(workspace, "locked-by")));
	return {
		name: view.name,
		autoApply: flag(workspace, "auto-apply"),
		mayApply: may(workspace, "can-queue-apply"),
		destroyable: flag(workspace, "can-queue-destroy-plan"),
		before: open.pages?.["total-count"],
		lock: lock ? lock.word + (lock.reason && `: ${lock.reason}`) : "",
	};
}

function Modes({ mode, onMode }: { readonly mode: QueueMode; readonly onMode: (mode: QueueMode) => void }) {
	const name = useId();
	return (
		<fieldset class="modes">
			<legend>Mode</legend>
			{modes.map(([value, word, hint]) => (
				<label key={value}>
					<input type="radio" name={name} checked={mode === value} onChange={() => onMode(value)} />
					<span>
						{word} <span class="hint">{hint}</span>
					</span>
				</label>
			))}
		</fieldset>
	);
}

const pointers = ["/data/attributes/message", "/data/attributes/target-addrs", "/data/attributes/replace-addrs"].concat(
	"/data/attributes/variables",
	"/data/attributes/terraform-version",
);

// The dialog that queues a run. It leads to the run's page.
export function QueuePlan({ view, order: first, onClose }: QueuePlanProps) {
	const [order, setOrder] = useState<QueueOrder>({ ...emptyOrder, ...first });
	const facts = useFacts(view);
	const set = (changes: Partial<QueueOrder>) => setOrder((before) => ({ ...before, ...changes }));
	const queue = async () => {
		const document = await change("POST", address("/runs"), runBody(order, view.workspace.id));
		const run = (document.data as Resource).id;
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run }));
	};
	return (
		<Dialog
			title={`Queue Plan in ${view.name}`}
			confirm="Queue Plan"
			danger={order.mode === "destroy"}
			reason={orderReason(order, facts)}
			fields={pointers}
			onConfirm={queue}
			onClose={onClose}
		>
			{(error) => (
				<>
					<Modes mode={order.mode} onMode={(mode) => set({ mode })} />
					{order.mode === "destroy" && (
						<TextField label={`Type ${view.name} to destroy it`} value={order.typedName} onValue={(typedName) => set({ typedName })} />
					)}
					<TextField
						label="Message"
						hint="Why this run? It stands in the lists of runs."
						value={order.message}
						onValue={(message) => set({ message })}
						error={error}
						pointer="/data/attributes/message"
					/>
					<Fold summary="Advanced" open={false}>
						{() => <QueueAdvanced view={view} order={order} error={error} onChange={set} />}
					</Fold>
					<section class="follows" aria-label="What follows" aria-live="polite">
						<h3>What follows</h3>
						<ul>
							{whatFollows(order, facts).map((text) => (
								<li key={text}>{text}</li>
							))}
						</ul>
					</section>
				</>
			)}
		</Dialog>
	);
}
