// SPDX-License-Identifier: MPL-2.0
import { CheckField, SelectField, TextField } from "../../components/field.tsx";
import type { ApiError } from "../../core/errors.ts";
import type { PageProps } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { AgentPoolField } from "./agent_pool_field.tsx";
import { type Draft, useDraft } from "./draft.ts";
import { sectionPath } from "./sections.ts";
import { SettingsForm } from "./settings_form.tsx";
import { mayManage, ReadOnlyNote, SettingsFrame } from "./settings_frame.tsx";
import { SshKey } from "./ssh_key.tsx";

const fields = ["name", "description", "execution-mode", "agent-pool-id", "terraform-version", "working-directory"];

const modes = [
	["remote", "Remote: workers of this site run terraform"],
	["agent", "Agent: workers of an agent pool run terraform"],
	["local", "Local: terraform runs where it is called, the state is kept here"],
] as const;

export default function General({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="general">
			{(view) => <GeneralForm view={view} />}
		</SettingsFrame>
	);
}

function GeneralForm({ view }: { readonly view: WorkspaceView }) {
	const draft = useDraft(view.workspace);
	const params = { org: view.org, ws: view.name };
	return (
		<>
			<ReadOnlyNote shown={!mayManage(view)} what="these settings" />
			<SettingsForm view={view} draft={draft} section="general" fields={fields}>
				{(error) => (
					<>
						<NameFields draft={draft} error={error} renamed={"name" in draft.changes} />
						<h3>Execution</h3>
						<ExecutionFields view={view} draft={draft} error={error} />
						<h3>Apply</h3>
						<ApplyFields draft={draft} />
					</>
				)}
			</SettingsForm>
			<SshKey view={view} />
			<p>
				Destroy plans and the deletion of the workspace: <a href={sectionPath("destruction", params)}>Destruction</a>.
			</p>
		</>
	);
}

type PartProps = { readonly draft: Draft; readonly error: ApiError | undefined };

function NameFields({ draft, error, renamed }: PartProps & { readonly renamed: boolean }) {
	return (
		<>
			<TextField
				label="Name"
				hint={renamed ? "Configurations with a cloud block name the workspace: change it there too." : undefined}
				error={error}
				pointer="/data/attributes/name"
				value={draft.text("name")}
				onValue={(value) => draft.set("name", value)}
			/>
			<TextField
				label="Description"
				lines={2}
				error={error}
				pointer="/data/attributes/description"
				value={draft.text("description")}
				onValue={(value) => draft.set("description", value)}
			/>
		</>
	);
}

function ExecutionFields({ view, draft, error }: PartProps & { readonly view: WorkspaceView }) {
	return (
		<>
			<SelectField
				label="Execution mode"
				options={modes}
				error={error}
				pointer="/data/attributes/execution-mode"
				value={draft.text("execution-mode")}
				onValue={(value) => draft.set("execution-mode", value)}
			/>
			{draft.text("execution-mode") === "agent" && <AgentPoolField view={view} draft={draft} error={error} />}
			<TextField
				label="Terraform version"
				hint="A version such as 1.11.4, a constraint such as ~> 1.11.0, or latest. It applies to later runs."
				error={error}
				pointer="/data/attributes/terraform-version"
				value={draft.text("terraform-version")}
				onValue={(value) => draft.set("terraform-version", value)}
			/>
			<TextField
				label="Working directory"
				hint="Below the root of the configuration; empty: the root."
				error={error}
				pointer="/data/attributes/working-directory"
				value={draft.text("working-directory")}
				onValue={(value) => draft.set("working-directory", value)}
			/>
		</>
	);
}

function ApplyFields({ draft }: { readonly draft: Draft }) {
	const check = (name: string, label: string, hint: string) => (
		<CheckField label={label} hint={hint} checked={draft.flag(name)} onChecked={(on) => draft.set(name, on)} />
	);
	return (
		<>
			{check("auto-apply", "Auto-apply", "A plan with changes is applied without a person.")}
			{check("auto-apply-run-trigger", "Auto-apply after run triggers", "Also for runs that another workspace starts.")}
			{check("structured-run-output-enabled", "Structured run output", "Runs show resources as rows. Without it they show text alone.")}
		</>
	);
}
