// SPDX-License-Identifier: MPL-2.0
import { Chip, Mark } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import { flag, linkOf, may, type Resource, text, texts } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { namesOf, type ObjectKind, wordOf } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { enforcements, stages } from "../task_words.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { SettingsFrame } from "./settings_frame.tsx";

const taskOf = (attached: Resource) => store.get(linkOf(attached, "task"));

// tasks: those of the organization. They may come after the dialog was opened.
function kindOf(path: string, tasks: Loaded): ObjectKind {
	return {
		type: "workspace-tasks",
		one: "run task",
		many: "Run tasks",
		head: "Task",
		empty: "No run tasks. Runs of this workspace call no service.",
		name: (item) => text(taskOf(item), "name") || item.id,
		item: (id) => `${path}/${segment(id)}`,
		add: "Attach run task",
		create: "Attach run task",
		save: "Save run task",
		confirmRemove: "Remove run task",
		missing: ({ task, stages: chosen }) =>
			task === "" ? "the run tasks are not loaded yet" : (chosen as readonly string[]).length === 0 ? "no stage is chosen" : undefined,
		fields: [
			{
				name: "task",
				label: "Run task",
				kind: "choice",
				relation: "tasks",
				options: namesOf(tasks.items),
				initial: tasks.items[0]?.id ?? "",
				only: "create",
			},
			{ name: "stages", label: "Stages", kind: "set", options: stages, initial: ["post_plan"] },
			{ name: "enforcement-level", label: "Enforcement", kind: "choice", options: enforcements, initial: "mandatory" },
		],
		columns: [
			{
				key: "state",
				head: "Stages",
				cell: (item) => (
					<>
						{texts(item, "stages").map((stage) => (
							<Chip key={stage}>{wordOf(stages, stage)}</Chip>
						))}
						{taskOf(item) && !flag(taskOf(item), "enabled") && <Mark tone="wait">Disabled by the organization</Mark>}
					</>
				),
			},
			{ key: "enforcement", head: "Enforcement", cell: (item) => wordOf(enforcements, text(item, "enforcement-level")) },
		],
		remove: "Remove",
		removes: "Later runs do not call it. The organization keeps it.",
	};
}

export default function RunTasks({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="run-tasks">
			{(view) => <TaskList view={view} />}
		</SettingsFrame>
	);
}

function TaskList({ view }: { readonly view: WorkspaceView }) {
	const path = `/workspaces/${segment(view.workspace.id)}/tasks`;
	const tasks = useDocument(address(`/organizations/${segment(view.org)}/tasks`, { "page[size]": 100 }));
	return (
		<ObjectList
			kind={kindOf(path, tasks)}
			url={address(path, { "page[size]": 100 })}
			createPath={path}
			intro="Services that runs of this workspace call. The organization's settings have their addresses."
			reason={may(view.workspace, "can-manage-run-tasks") ? undefined : "you need the right to manage the run tasks of this workspace"}
			noneLeft={tasks.asOf > 0 && tasks.items.length === 0 ? "the organization has no run task yet" : undefined}
		/>
	);
}
