// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { CheckList } from "../../components/check_list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Chip, Mark } from "../../components/status_mark.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import { flag, linkOf, may, type Resource, text, texts } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { type Asked, ListSection, RemoveDialog, RowActions } from "./list_section.tsx";
import { SettingsFrame } from "./settings_frame.tsx";

const stages = [
	["pre_plan", "Pre-plan"],
	["post_plan", "Post-plan"],
	["pre_apply", "Pre-apply"],
	["post_apply", "Post-apply"],
] as const;

const levels = [
	["mandatory", "Mandatory: a failure ends the run"],
	["advisory", "Advisory: a failure leaves a warning"],
] as const;

export default function RunTasks({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="run-tasks">
			{(view) => <TaskList view={view} />}
		</SettingsFrame>
	);
}

const taskOf = (attached: Resource) => store.get(linkOf(attached, "task"));

function TaskList({ view }: { readonly view: WorkspaceView }) {
	const path = address(`/workspaces/${segment(view.workspace.id)}/tasks`);
	const attached = useDocument(`${path}?page%5Bsize%5D=100`);
	const tasks = useDocument(address(`/organizations/${segment(view.org)}/tasks`, { "page[size]": 100 }));
	const [asked, setAsked] = useState<Asked | undefined>();
	const close = () => setAsked(undefined);
	const reason = may(view.workspace, "can-manage-run-tasks") ? undefined : "you need the right to manage the run tasks of this workspace";
	const name = (item: Resource) => text(taskOf(item), "name") || item.id;
	const noTasks = tasks.asOf > 0 && tasks.items.length === 0 ? "the organization has no run task yet" : undefined;
	return (
		<>
			<ListSection
				of={attached}
				intro="Services that runs of this workspace call. The organization's settings have their addresses."
				empty="No run tasks. Runs of this workspace call no service."
				caption="Run tasks"
				heads={["Task", "Stages", "Enforcement", "Actions"]}
				add="Attach run task"
				reason={reason ?? noTasks}
				onAdd={() => setAsked({ kind: "add" })}
				row={(item) => [
					<>
						{name(item)} {taskOf(item) && !flag(taskOf(item), "enabled") && <Mark tone="wait">Disabled by the organization</Mark>}
					</>,
					texts(item, "stages").map((stage) => <Chip key={stage}>{stages.find(([key]) => key === stage)?.[1] ?? stage}</Chip>),
					text(item, "enforcement-level") === "mandatory" ? "Mandatory" : "Advisory",
					<RowActions
						key="actions"
						name={name(item)}
						reason={reason}
						onEdit={() => setAsked({ kind: "edit", item })}
						onRemove={() => setAsked({ kind: "remove", item })}
					/>,
				]}
			/>
			{asked?.kind === "remove" && (
				<RemoveDialog
					title={`Remove ${name(asked.item)}`}
					word="Remove run task"
					text="Later runs do not call it. The organization keeps it."
					url={`${path}/${segment(asked.item.id)}`}
					onDone={attached.reload}
					onClose={close}
				/>
			)}
			{asked && asked.kind !== "remove" && (
				<TaskDialog
					path={path}
					tasks={tasks}
					attached={asked.kind === "edit" ? asked.item : undefined}
					onDone={attached.reload}
					onClose={close}
				/>
			)}
		</>
	);
}

type DialogProps = {
	readonly path: string;
	readonly tasks: Loaded;
	readonly attached: Resource | undefined;
	readonly onDone: () => Promise<unknown>;
	readonly onClose: () => void;
};

function TaskDialog({ path, tasks, attached, onDone, onClose }: DialogProps) {
	const [task, setTask] = useState(linkOf(attached, "task")?.id ?? tasks.items[0]?.id ?? "");
	const [chosen, setChosen] = useState<readonly string[]>(attached ? texts(attached, "stages") : ["post_plan"]);
	const [level, setLevel] = useState(text(attached, "enforcement-level") || "mandatory");
	const save = async () => {
		const relationships = attached ? undefined : { task: { data: { type: "tasks", id: task } } };
		const data = {
			type: "workspace-tasks",
			attributes: { stages: chosen, "enforcement-level": level },
			...(relationships && { relationships }),
		};
		await change(attached ? "PATCH" : "POST", attached ? `${path}/${segment(attached.id)}` : path, { data });
		announce(attached ? "The run task is saved" : "The run task is attached");
		await onDone();
	};
	const options = tasks.items.map((item) => [item.id, text(item, "name")] as const);
	return (
		<Dialog
			title={attached ? `Edit ${text(taskOf(attached), "name")}` : "Attach run task"}
			confirm={attached ? "Save run task" : "Attach run task"}
			reason={chosen.length === 0 ? "no stage is chosen" : undefined}
			fields={["/data/attributes/stages", "/data/attributes/enforcement-level", "/data/relationships/task"]}
			onConfirm={save}
			onClose={onClose}
		>
			{(error: ApiError | undefined) => (
				<>
					{!attached && (
						<SelectField
							label="Run task"
							options={options}
							error={error}
							pointer="/data/relationships/task"
							value={task}
							onValue={setTask}
						/>
					)}
					<CheckList
						legend="Stages"
						options={stages}
						chosen={chosen}
						error={error}
						pointer="/data/attributes/stages"
						onChosen={setChosen}
					/>
					<SelectField
						label="Enforcement"
						options={levels}
						error={error}
						pointer="/data/attributes/enforcement-level"
						value={level}
						onValue={setLevel}
					/>
				</>
			)}
		</Dialog>
	);
}
