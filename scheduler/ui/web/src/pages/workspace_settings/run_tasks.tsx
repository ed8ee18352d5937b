// SPDX-License-Identifier: MPL-2.0
import { Chip, Mark } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, may, type Resource, text, texts } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { stages } from "../task_words.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { ListSection } from "./list_section.tsx";
import { SettingsFrame } from "./settings_frame.tsx";
import { TaskDialog, taskOf } from "./task_dialog.tsx";

export default function RunTasks({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="run-tasks">
			{(view) => <TaskList view={view} />}
		</SettingsFrame>
	);
}

function TaskList({ view }: { readonly view: WorkspaceView }) {
	const path = address(`/workspaces/${segment(view.workspace.id)}/tasks`);
	const attached = useDocument(`${path}?page%5Bsize%5D=100`);
	const tasks = useDocument(address(`/organizations/${segment(view.org)}/tasks`, { "page[size]": 100 }));
	const reason = may(view.workspace, "can-manage-run-tasks") ? undefined : "you need the right to manage the run tasks of this workspace";
	const name = (item: Resource) => text(taskOf(item), "name") || item.id;
	return (
		<ListSection
			of={attached}
			intro="Services that runs of this workspace call. The organization's settings have their addresses."
			empty="No run tasks. Runs of this workspace call no service."
			caption="Run tasks"
			heads={["Task", "Stages", "Enforcement"]}
			add="Attach run task"
			reason={reason}
			noneLeft={tasks.asOf > 0 && tasks.items.length === 0 ? "the organization has no run task yet" : undefined}
			name={name}
			cells={(item) => [
				<>
					{name(item)} {taskOf(item) && !flag(taskOf(item), "enabled") && <Mark tone="wait">Disabled by the organization</Mark>}
				</>,
				texts(item, "stages").map((stage) => <Chip key={stage}>{stages.find(([key]) => key === stage)?.[1] ?? stage}</Chip>),
				text(item, "enforcement-level") === "mandatory" ? "Mandatory" : "Advisory",
			]}
			removal={(item) => ({
				title: `Remove ${name(item)}`,
				word: "Remove run task",
				text: "Later runs do not call it. The organization keeps it.",
				url: `${path}/${segment(item.id)}`,
			})}
			edit={(props) => <TaskDialog path={path} tasks={tasks} {...props} />}
		/>
	);
}
