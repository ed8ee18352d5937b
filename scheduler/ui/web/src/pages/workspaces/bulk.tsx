// SPDX-License-Identifier: MPL-2.0
// Actions on the selected workspaces: lock, and queue a plan.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { counted } from "../../core/format.ts";
import { useStopped } from "../../core/hooks.ts";
import { flag, may, type Resource, text } from "../../core/resource.ts";
import { queueReason } from "../workspace/frame_links.ts";
import { sendEach, sendLock, sendRun } from "./bulk_send.ts";
import { refusedBy } from "./list.ts";

type BulkProps = {
	readonly selected: readonly Resource[];
	readonly onDone: (ids: readonly string[]) => void; // those for which it succeeded
	readonly onClear: () => void;
};

type BulkAction = {
	readonly title: string;
	readonly word: string;
	readonly label: string; // of its text field
	readonly done: string;
	readonly send: (workspace: string, words: string) => Promise<unknown>;
};

const lock: BulkAction = {
	title: "Lock",
	word: "Lock",
	label: "Reason",
	done: "locked",
	send: (workspace, reason) => sendLock(workspace, reason),
};

const queue: BulkAction = {
	title: "Queue Plan",
	word: "Queue Plan",
	label: "Message",
	done: "queued",
	send: (workspace, message) => sendRun(workspace, { message }),
};

function BulkDialog({ action, onClose, ...props }: BulkProps & { readonly action: BulkAction; readonly onClose: () => void }) {
	const [words, setWords] = useState("");
	const stopped = useStopped();
	return (
		<Dialog
			title={`${action.title}: ${counted(props.selected.length, "workspace")}`}
			confirm={action.word}
			stoppable
			onConfirm={() =>
				sendEach({
					targets: props.selected.map((workspace) => ({ id: workspace.id, name: text(workspace, "name") })),
					word: action.done,
					send: ({ id }) => action.send(id, words),
					onDone: props.onDone,
					isStopped: () => stopped.current,
				})
			}
			onClose={onClose}
		>
			<ul>
				{props.selected.map((workspace) => (
					<li key={workspace.id}>{text(workspace, "name")}</li>
				))}
			</ul>
			<p class="hint">If you close this dialog, the action ends after the current request.</p>
			<TextField label={action.label} value={words} onValue={setWords} />
		</Dialog>
	);
}

export function BulkBar(props: BulkProps) {
	const [action, setAction] = useState<BulkAction | undefined>();
	const { selected } = props;
	const none = selected.length === 0 ? "select workspaces first" : undefined;
	const mayLock = (workspace: Resource) => may(workspace, "can-lock") && !flag(workspace, "locked");
	const mayQueue = (workspace: Resource) => queueReason(workspace, may(workspace, "can-queue-run")) === undefined;
	return (
		<span class="actions">
			<Button reason={none ?? refusedBy(selected, mayLock, "locked, or you may not lock")} onPress={() => setAction(lock)}>
				Lock
			</Button>
			<Button reason={none ?? refusedBy(selected, mayQueue, "local, or you may not queue runs")} onPress={() => setAction(queue)}>
				Queue Plan
			</Button>
			{selected.length > 0 && (
				<>
					<span>{selected.length} selected</span>
					<Button onPress={props.onClear}>Clear selection</Button>
				</>
			)}
			{action && <BulkDialog {...props} action={action} onClose={() => setAction(undefined)} />}
		</span>
	);
}
