// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, SelectField, TextField } from "../../components/field.tsx";
import { address, change, segment } from "../../core/api.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";

type Props = {
	readonly org: string;
	readonly projects: readonly Resource[];
	readonly project?: string; // chosen at first
	readonly primary?: boolean;
};

const pointers = ["/data/attributes/name", "/data/attributes/description", "/data/relationships/project"];

function workspaceBody(form: { name: string; description: string; project: string; mode: string; autoApply: boolean }) {
	return {
		data: {
			type: "workspaces",
			attributes: {
				name: form.name,
				"execution-mode": form.mode,
				"auto-apply": form.autoApply,
				...(form.description && { description: form.description }),
			},
			...(form.project && { relationships: { project: { data: { type: "projects", id: form.project } } } }),
		},
	};
}

function NewWorkspaceDialog({ org, projects, project = "", onClose }: Props & { readonly onClose: () => void }) {
	const [form, setForm] = useState({
		name: "",
		description: "",
		project: project || (projects[0]?.id ?? ""),
		mode: "remote",
		autoApply: false,
	});
	const set = (changes: Partial<typeof form>) => setForm({ ...form, ...changes });
	const create = async () => {
		await change("POST", address(`/organizations/${segment(org)}/workspaces`), workspaceBody(form));
		navigate(pathTo("/app/:org/workspaces/:ws", { org, ws: form.name }));
	};
	return (
		<Dialog
			title="New workspace"
			confirm="Create workspace"
			reason={form.name ? undefined : "it needs a name"}
			fields={pointers}
			onConfirm={create}
			onClose={onClose}
		>
			{(error) => (
				<>
					<TextField
						label="Name"
						hint="Letters, digits, - and _. The cloud block of the configuration names it."
						value={form.name}
						maxLength={90}
						required
						onValue={(name) => set({ name })}
						error={error}
						pointer="/data/attributes/name"
					/>
					<SelectField
						label="Project"
						value={form.project}
						options={projects.map((item) => [item.id, text(item, "name")])}
						onValue={(chosen) => set({ project: chosen })}
						error={error}
						pointer="/data/relationships/project"
					/>
					<TextField
						label="Description"
						value={form.description}
						onValue={(description) => set({ description })}
						error={error}
						pointer="/data/attributes/description"
					/>
					<SelectField
						label="Execution mode"
						hint="Local: runs stay on your machine, the state is kept here. A pool of agents is chosen in the settings."
						value={form.mode}
						options={[
							["remote", "Remote"],
							["local", "Local"],
						]}
						onValue={(mode) => set({ mode })}
					/>
					<CheckField
						label="Auto-apply"
						hint="Plans that succeed are applied without confirmation."
						checked={form.autoApply}
						onChecked={(autoApply) => set({ autoApply })}
					/>
				</>
			)}
		</Dialog>
	);
}

export function NewWorkspace(props: Props) {
	const [open, setOpen] = useState(false);
	const allowed = props.projects.filter((item) => may(item, "can-create-workspace"));
	return (
		<>
			<Button
				kind={props.primary ? "primary" : "plain"}
				reason={allowed.length > 0 ? undefined : "you may not create workspaces in any project"}
				onPress={() => setOpen(true)}
			>
				New workspace
			</Button>
			{open && <NewWorkspaceDialog {...props} projects={allowed} onClose={() => setOpen(false)} />}
		</>
	);
}
