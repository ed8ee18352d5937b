// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { counted } from "../../core/format.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import type { Target } from "../workspaces/bulk_send.ts";
import { TargetList } from "./target_list.tsx";

const subjectAt = "/data/attributes/action_inputs/subject";
const messageAt = "/data/attributes/action_inputs/message";

type Props = {
	readonly org: string;
	readonly targets: readonly Target[];
	readonly onDone: () => void;
	readonly onClose: () => void;
};

// Creates the request in all of the workspaces, or in none.
export function ChangeRequestDialog({ org, targets, onDone, onClose }: Props) {
	const [subject, setSubject] = useState("");
	const [message, setMessage] = useState("");
	const create = async () => {
		const attributes = {
			action_type: "change_request",
			action_inputs: { subject: subject.trim(), message },
			target_ids: targets.map(({ id }) => id),
		};
		await change("POST", address(`/organizations/${segment(org)}/explorer/bulk-actions`), { data: { type: "bulk_actions", attributes } });
		announce(`${counted(targets.length, "change request")} created`);
		onDone();
	};
	return (
		<Dialog
			title={`Create change request: ${counted(targets.length, "workspace")}`}
			confirm="Create"
			reason={subject.trim() && message.trim() ? undefined : "it needs a subject and a description"}
			fields={[subjectAt, messageAt]}
			onConfirm={create}
			onClose={onClose}
		>
			{(error) => (
				<>
					<TextField label="Subject" required maxLength={255} value={subject} onValue={setSubject} error={error} pointer={subjectAt} />
					<Message message={message} setMessage={setMessage} error={error} />
					<TargetList targets={targets} />
					<p class="hint">Each workspace gets its own copy. Each copy is archived separately.</p>
				</>
			)}
		</Dialog>
	);
}

type MessageProps = {
	readonly message: string;
	readonly setMessage: (message: string) => void;
	readonly error: ApiError | undefined;
};

function Message({ message, setMessage, error }: MessageProps) {
	return (
		<Tabs
			label="Description"
			tabs={[
				{
					key: "write",
					word: "Write",
					content: () => (
						<TextField
							label="Description"
							hint="You can use Markdown."
							lines={6}
							required
							value={message}
							onValue={setMessage}
							error={error}
							pointer={messageAt}
						/>
					),
				},
				{
					key: "preview",
					word: "Preview",
					content: () => (message.trim() ? <Markdown text={message} below={2} /> : <p class="muted">Nothing is written yet.</p>),
				},
			]}
		/>
	);
}
