// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { CheckList } from "../../components/check_list.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import type { Loaded } from "../../core/hooks.ts";
import { linkOf, type Resource, text, texts } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { enforcements, stages } from "../task_words.ts";
import type { EditProps } from "./list_section.tsx";

export const taskOf = (attached: Resource) => store.get(linkOf(attached, "task"));

type Props = EditProps & { readonly path: string; readonly tasks: Loaded };

export function TaskDialog({ path, tasks, item: attached, onDone, onClose }: Props) {
	const [picked, setPicked] = useState(linkOf(attached, "task")?.id);
	const task = picked ?? tasks.items[0]?.id; // they may come after the dialog was opened
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
	const options = tasks.items.map((one) => [one.id, text(one, "name")] as const);
	return (
		<Dialog
			title={attached ? `Edit ${text(taskOf(attached), "name")}` : "Attach run task"}
			confirm={attached ? "Save run task" : "Attach run task"}
			reason={task === undefined ? "the run tasks are not loaded yet" : chosen.length === 0 ? "no stage is chosen" : undefined}
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
							value={task ?? ""}
							onValue={setPicked}
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
						options={enforcements}
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
