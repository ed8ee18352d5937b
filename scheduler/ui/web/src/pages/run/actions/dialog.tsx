// SPDX-License-Identifier: MPL-2.0
import { useRef, useState } from "preact/hooks";
import { Dialog } from "../../../components/dialog.tsx";
import { TextField } from "../../../components/field.tsx";
import { announce } from "../../../components/live_region.tsx";
import { ApiError, errorOf } from "../../../core/errors.ts";
import { ago, timeOf } from "../../../core/format.ts";
import { flag, type Resource, text } from "../../../core/resource.ts";
import { actorOf, type RunView } from "../view.ts";
import { Explain } from "./explain.tsx";
import type { Action } from "./table.ts";

function Fields({
	comment,
	required,
	word,
	onComment,
}: {
	comment: string;
	required: boolean;
	word: string;
	onComment: (text: string) => void;
}) {
	return <TextField label={required ? word : `${word} (optional)`} lines={2} value={comment} onValue={onComment} />;
}

// The dialog of an action. If the action is not possible any more, it says who was faster.
export function ActionDialog({ action, view, onClose }: { readonly action: Action; readonly view: RunView; readonly onClose: () => void }) {
	const [comment, setComment] = useState("");
	const [typed, setTyped] = useState("");
	const [version, setVersion] = useState(text(view.run, "terraform-version"));
	const latest = useRef(view);
	latest.current = view;
	const sent = useRef(false);
	const word = useRef(action.word(view)).current; // the run may change while the dialog is open
	const name = text(view.workspace, "name");
	const wantsName = action.typedName(view);
	const faster = () => fasterText(latest.current.events, actorOf, Date.now());
	const late = !action.shown(view) && !sent.current ? faster() || "the run has gone on" : "";
	const reason = late
		? late
		: wantsName && typed !== name
			? "type the workspace's name"
			: action.comment === "required" && !comment.trim()
				? "a comment is required"
				: undefined;
	const confirm = async () => {
		sent.current = true;
		try {
			await action.send(view, { comment: comment.trim(), version: version.trim() });
		} catch (failure) {
			sent.current = false;
			const error = errorOf(failure);
			if (error.status === 409) {
				await view.reload();
				const who = action.shown(latest.current) ? "" : faster();
				throw who ? new ApiError(409, [{ title: "conflict", detail: `This run was ${who}.`, pointer: "" }]) : error;
			}
			throw error;
		}
		announce(action.done);
		await view.reload();
	};
	return (
		<Dialog title={word} confirm={word} danger={action.kind(view) === "danger"} reason={reason} onClose={onClose} onConfirm={confirm}>
			{late && (
				<p class="note wait" role="alert">
					Somebody was faster: this run was {late}.
				</p>
			)}
			<Explain action={action.key} view={view} />
			{wantsName && <TextField label={`Type ${name} to go on`} value={typed} onValue={setTyped} />}
			{action.key === "again" && flag(view.run, "plan-only") && (
				<TextField label="Terraform version" value={version} onValue={setVersion} />
			)}
			{action.comment !== "none" && (
				<Fields
					comment={comment}
					required={action.comment === "required"}
					word={action.key === "lock" ? "Reason" : "Comment"}
					onComment={setComment}
				/>
			)}
		</Dialog>
	);
}

const words: Readonly<Record<string, string>> = {
	confirmed: "confirmed",
	discarded: "discarded",
	canceled: "canceled",
	"force-canceled": "force-canceled",
	overridden: "overridden",
	"force-executed": "moved to the front",
};

// fasterText: "confirmed by ada 3 s ago", from the newest action of a person, or "". `who` gives the name of an event's actor.
export function fasterText(events: readonly Resource[], who: (event: Resource) => string, now: number): string {
	const event = events.filter((item) => words[text(item, "action")] !== undefined && who(item) !== "").at(-1);
	const at = timeOf(event?.attributes["created-at"]);
	return event && at !== undefined ? `${words[text(event, "action")]} by ${who(event)} ${ago(at, now)}` : "";
}
