// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import { flag, linkOf } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { namesOf } from "../../objects/kinds.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { mayManage, needsAdmin, ReadOnlyNote, SettingsFrame, sectionPath, WorkspaceForm } from "./settings_frame.tsx";

const modes = [
	["remote", "Remote: workers of this site run terraform"],
	["agent", "Agent: workers of an agent pool run terraform"],
	["local", "Local: terraform runs where it is called, the state is kept here"],
] as const;

const fieldsOf = (pools: Loaded, enforced: boolean): readonly FieldRow[] => [
	{ name: "name", label: "Name", kind: "text", hint: "Configurations with a cloud block name the workspace: change it there, too." },
	{ name: "description", label: "Description", kind: "long" },
	{ name: "execution-mode", label: "Execution mode", kind: "choice", options: modes, heading: "Execution" },
	{
		name: "agent-pool-id",
		label: "Agent pool",
		kind: "choice",
		hint: pools.asOf > 0 && pools.items.length === 0 ? "The organization has no agent pool yet." : undefined,
		options: [["", "Choose a pool"], ...namesOf(pools.items)],
		from: (workspace) => linkOf(workspace, "agent-pool")?.id ?? "",
		shown: (values) => values["execution-mode"] === "agent",
	},
	{
		name: "terraform-version",
		label: "Terraform version",
		kind: "text",
		hint: "A version such as 1.11.4, a constraint such as ~> 1.11.0, or latest. It applies to later runs.",
	},
	{ name: "working-directory", label: "Working directory", kind: "text", hint: "Below the root of the configuration; empty: the root." },
	{ name: "auto-apply", label: "Auto-apply", kind: "flag", hint: "A plan with changes is applied without a person.", heading: "Apply" },
	{
		name: "auto-apply-run-trigger",
		label: "Auto-apply after run triggers",
		kind: "flag",
		hint: "Also for runs that another workspace starts.",
	},
	{
		name: "structured-run-output-enabled",
		label: "Structured run output",
		kind: "flag",
		hint: "Runs show resources as rows. Without it they show text alone.",
	},
	{
		name: "assessments-enabled",
		label: "Health assessments",
		kind: "flag",
		heading: "Health",
		disabled: enforced,
		hint: enforced
			? "The organization enforces them in all workspaces."
			: "Between runs, a plan that changes nothing looks for drift and evaluates the checks.",
	},
];

export default function General({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="general">
			{(view) => <GeneralForm view={view} />}
		</SettingsFrame>
	);
}

function GeneralForm({ view }: { readonly view: WorkspaceView }) {
	const path = `/organizations/${segment(view.org)}`;
	const organization = useDocument(address(path));
	const pools = useDocument(address(`${path}/agent-pools`, { "page[size]": 100 }));
	const enforced = flag(organization.item, "assessments-enforced");
	return (
		<>
			<ReadOnlyNote shown={!mayManage(view)} what="these settings" />
			<WorkspaceForm view={view} section="general" fields={fieldsOf(pools, enforced)} />
			<SshKey view={view} />
			<p>
				Destroy plans and the deletion of the workspace:{" "}
				<a href={sectionPath("destruction", { org: view.org, ws: view.name })}>Destruction</a>.
			</p>
		</>
	);
}

// The key that terraform uses for modules from private Git repositories.
function SshKey({ view }: { readonly view: WorkspaceView }) {
	const keys = useDocument(address(`/organizations/${segment(view.org)}/ssh-keys`, { "page[size]": 100 }));
	const field: FieldRow = {
		name: "id",
		label: "SSH key for modules",
		kind: "choice",
		nullable: true,
		hint: "Terraform reads modules of private Git repositories with it. The organization's settings have the keys.",
		options: [["", "None"], ...namesOf(keys.items)],
		from: (workspace) => linkOf(workspace, "ssh-key")?.id ?? "",
	};
	const item = (id: string) => `/workspaces/${segment(id)}/relationships/ssh-key`;
	return (
		<>
			<h3>SSH key</h3>
			<SettingsForm
				kind={{ type: "workspaces", fields: [field], item }}
				item={view.workspace}
				reason={mayManage(view) ? undefined : needsAdmin}
				word="Save SSH key"
				said="The SSH key is saved"
				onSaved={view.reload}
			/>
		</>
	);
}
