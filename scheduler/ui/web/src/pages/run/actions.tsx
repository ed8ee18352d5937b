// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { counted, duration, timeOf } from "../../core/format.ts";
import { useNow } from "../../core/hooks.ts";
import { can, flag, linkOf, may, number, type Resource, text } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { isFinal } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import type { RunView } from "./run.tsx";

// An action of the run: when its button is shown, why it is disabled, and what its dialog says.
type Action = {
	readonly key: string;
	readonly word: (view: RunView) => string;
	readonly shown: (view: RunView) => boolean;
	readonly right: (view: RunView) => boolean;
	readonly needed: string; // what a person without the right reads
	readonly kind?: "primary" | "danger";
	readonly explain: (view: RunView) => ComponentChildren;
	readonly comment: "optional" | "required" | "none";
	readonly typedName?: (view: RunView) => boolean;
	readonly send: (view: RunView, comment: string) => Promise<unknown>;
	readonly done: string;
};

function planOf(view: RunView): Resource | undefined {
	return store.one(view.run, "plan");
}

function destroyed(view: RunView): number {
	return number(planOf(view), "resource-destructions") ?? 0;
}

function post(view: RunView, action: string, comment = ""): Promise<unknown> {
	return change("POST", address(`/runs/${segment(view.run.id)}/actions/${action}`), comment ? { comment } : {});
}

// What can be overridden: a policy check, or the stage of policies or tasks.
function overridable(view: RunView): { path: string; allowed: boolean; names: string } | undefined {
	const check = view.policyChecks.find((item) => can(item, "is-overridable"));
	const stage = view.taskStages.find((item) => can(item, "is-overridable"));
	if (check) {
		return { path: `/policy-checks/${segment(check.id)}/actions/override`, allowed: may(check, "can-override"), names: "a policy check" };
	}
	return (
		stage && {
			path: `/task-stages/${segment(stage.id)}/actions/override`,
			allowed: may(stage, "can-override"),
			names: `the stage ${text(stage, "stage")}`,
		}
	);
}

function isPending(view: RunView): boolean {
	return text(view.run, "status") === "pending";
}

async function planAgain(view: RunView): Promise<void> {
	const { run, workspace } = view;
	const configuration = linkOf(run, "configuration-version");
	const document = await change("POST", address("/runs"), {
		data: {
			type: "runs",
			attributes: {
				message: text(run, "message"),
				"is-destroy": flag(run, "is-destroy"),
				"plan-only": flag(run, "plan-only"),
				"refresh-only": flag(run, "refresh-only"),
				...(flag(run, "plan-only") && { "terraform-version": text(run, "terraform-version") }),
			},
			relationships: {
				workspace: { data: linkOf(run, "workspace") },
				...(configuration && { "configuration-version": { data: configuration } }),
			},
		},
	});
	const made = document.data as Resource | null;
	const org = linkOf(workspace, "organization")?.id ?? "";
	if (made) {
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: text(workspace, "name"), run: made.id }));
	}
}

const actions: readonly Action[] = [
	{
		key: "apply",
		word: (view) => (destroyed(view) > 0 ? `Apply, destroying ${destroyed(view)}` : "Confirm & Apply"),
		shown: (view) => can(view.run, "is-confirmable"),
		right: (view) => may(view.run, "can-apply"),
		needed: "you may not apply runs of this workspace",
		kind: "primary",
		comment: "optional",
		explain: (view) => (
			<p>
				{counted(number(planOf(view), "resource-additions") ?? 0, "resource")} to add, {number(planOf(view), "resource-changes") ?? 0} to
				change, {destroyed(view)} to destroy.
			</p>
		),
		typedName: (view) => flag(view.run, "is-destroy"),
		send: (view, comment) => post(view, "apply", comment),
		done: "The apply is confirmed",
	},
	{
		key: "override",
		word: () => "Override Policy",
		shown: (view) => overridable(view) !== undefined,
		right: (view) => overridable(view)?.allowed ?? false,
		needed: "you may not override policies",
		comment: "required",
		explain: (view) => <p>The run goes on although {overridable(view)?.names} failed.</p>,
		send: async (view, comment) => {
			await change("POST", address(overridable(view)?.path ?? ""), { comment });
		},
		done: "The failure is overridden",
	},
	{
		key: "execute",
		word: () => "Run this plan now",
		shown: (view) => isPending(view) && may(view.run, "can-force-execute"),
		right: () => true,
		needed: "",
		comment: "none",
		explain: () => <p>The runs before this one that wait for a person are discarded. A run that plans or applies is not stopped.</p>,
		send: (view) => post(view, "force-execute"),
		done: "The run starts next",
	},
	{
		key: "discard",
		word: (view) => (isPending(view) ? "Discard run" : "Discard Plan"),
		shown: (view) => can(view.run, "is-discardable"),
		right: (view) => may(view.run, "can-discard"),
		needed: "you may not discard runs of this workspace",
		comment: "optional",
		explain: () => <p>The run ends without an apply. Nothing is changed.</p>,
		send: (view, comment) => post(view, "discard", comment),
		done: "The run is discarded",
	},
	{
		key: "cancel",
		word: () => "Cancel Run",
		shown: (view) => can(view.run, "is-cancelable"),
		right: (view) => may(view.run, "can-cancel"),
		needed: "you may not cancel runs of this workspace",
		kind: "danger",
		comment: "optional",
		explain: () => <p>terraform is interrupted and ends after its current operations. The state that it has reached is kept.</p>,
		send: (view, comment) => post(view, "cancel", comment),
		done: "The run is asked to stop",
	},
	{
		key: "again",
		word: () => "Plan again",
		shown: (view) => isFinal(text(view.run, "status")),
		right: (view) => may(view.workspace, "can-queue-run"),
		needed: "you may not queue runs in this workspace",
		comment: "none",
		explain: () => <p>A new run plans the same configuration version with the variables of now.</p>,
		send: planAgain,
		done: "The run is queued",
	},
];

function ActionDialog({ action, view, onClose }: { readonly action: Action; readonly view: RunView; readonly onClose: () => void }) {
	const [comment, setComment] = useState("");
	const [typed, setTyped] = useState("");
	const name = text(view.workspace, "name");
	const wantsName = action.typedName?.(view) ?? false;
	const reason =
		wantsName && typed !== name
			? "type the workspace's name"
			: action.comment === "required" && !comment.trim()
				? "a comment is required"
				: undefined;
	return (
		<Dialog
			title={action.word(view)}
			confirm={action.word(view)}
			danger={action.kind === "danger" || (action.key === "apply" && destroyed(view) > 0)}
			reason={reason}
			onClose={onClose}
			onConfirm={async () => {
				await action.send(view, comment.trim());
				announce(action.done);
				await view.reload();
			}}
		>
			{action.explain(view)}
			{wantsName && <TextField label={`Type ${name}`} value={typed} onValue={setTyped} />}
			{action.comment !== "none" && (
				<TextField
					label={action.comment === "required" ? "Comment" : "Comment (optional)"}
					lines={2}
					value={comment}
					onValue={setComment}
				/>
			)}
		</Dialog>
	);
}

const forceCancel: Action = {
	key: "force",
	word: () => "Force Cancel",
	shown: () => true,
	right: (view) => may(view.run, "can-force-cancel"),
	needed: "you may not force-cancel runs of this workspace",
	kind: "danger",
	comment: "optional",
	typedName: () => true,
	explain: () => (
		<p>
			terraform is killed at once. Changes since its last saved state are lost to the state, and resources may remain that no state shows.
		</p>
	),
	send: (view, comment) => post(view, "force-cancel", comment),
	done: "The run is ended",
};

// After a cancel: enabled from force-cancel-available-at on, and counts down until then.
function ForceCancel({ view, onOpen }: { readonly view: RunView; readonly onOpen: () => void }) {
	const left = (timeOf(view.run.attributes["force-cancel-available-at"]) ?? 0) - useNow();
	const reason = !may(view.run, "can-force-cancel") ? forceCancel.needed : left > 0 ? `possible in ${duration(left)}` : undefined;
	return (
		<Button kind="danger" reason={reason} onPress={onOpen}>
			Force Cancel{left > 0 && ` (${duration(left)})`}
		</Button>
	);
}

// The run's buttons. They stand in the header (main) and again at the end of the page.
export function Actions({ view, main = false }: { readonly view: RunView; readonly main?: boolean }) {
	const [open, setOpen] = useState<Action | undefined>();
	const stopping =
		can(view.run, "is-force-cancelable") ||
		(timeOf(view.run.attributes["force-cancel-available-at"]) !== undefined && !isFinal(text(view.run, "status")));
	return (
		<div class="actions">
			{actions
				.filter((action) => action.shown(view))
				.map((action) => (
					<Button
						key={action.key}
						{...(main && action.key === "apply" && { id: "confirm-apply" })}
						kind={action.key === "apply" && destroyed(view) > 0 ? "danger" : action.key === "apply" ? "primary" : "plain"}
						reason={action.right(view) ? undefined : action.needed}
						onPress={() => setOpen(action)}
					>
						{action.word(view)}
					</Button>
				))}
			{stopping && <ForceCancel view={view} onOpen={() => setOpen(forceCancel)} />}
			{open && <ActionDialog action={open} view={view} onClose={() => setOpen(undefined)} />}
		</div>
	);
}
