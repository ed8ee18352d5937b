// SPDX-License-Identifier: MPL-2.0
import { CopyId } from "../../components/copy.tsx";
import { segment } from "../../core/api.ts";
import { text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { SettingsFrame, without } from "./settings_frame.tsx";
import { executionModes } from "./words.ts";

const kind: Pick<ObjectKind, "type" | "fields" | "item"> = {
	type: "organizations",
	item: (id) => `/organizations/${segment(id)}`,
	fields: [
		{ name: "email", label: "Notification e-mail", kind: "email" },
		{
			name: "default-execution-mode",
			label: "Default execution mode",
			kind: "choice",
			options: executionModes.filter(([mode]) => mode !== "agent"),
			hint: "Of workspaces that have none of their own. For the mode of an agent pool, use the API.",
		},
		{ name: "cost-estimation-enabled", label: "Estimate the monthly cost of each plan", kind: "flag" },
		{ name: "assessments-enforced", label: "Assess the health of every workspace", kind: "flag", hint: "Workspaces can't turn it off." },
		{
			name: "assessment-hours",
			label: "Hours between health assessments",
			kind: "number",
			hint: "1 to 168. Empty: the site's setting.",
		},
		{
			name: "collaborator-auth-policy",
			label: "Members sign in with",
			kind: "choice",
			options: [
				["password", "A password"],
				["two_factor_mandatory", "A password and a second factor"],
			],
			hint: "All owners need a second factor first. People who sign in through a provider are exempt.",
		},
		{ name: "session-timeout", label: "Idle sessions end after (minutes)", kind: "number", hint: "Empty: the limit of the site." },
		{ name: "session-remember", label: "Sessions end after (minutes)", kind: "number", hint: "Empty: the limit of the site." },
		{
			name: "risk-hint-types",
			label: "Risk hint types",
			kind: "list",
			hint: "Types of resources, such as aws_db_instance. A plan that destroys or replaces some says so above its changes.",
		},
		{ name: "user-tokens-enabled", label: "Tokens of users have access", kind: "flag" },
		{
			name: "max-ttl-enabled",
			label: "Tokens have a longest lifetime",
			kind: "flag",
			hint: "By their kind: see Tokens.",
		},
		{
			name: "unused-token-days",
			label: "Delete tokens that are unused for (days)",
			kind: "number",
			hint: "Of the organization and its teams. 0: the site's limit.",
		},
		{ name: "allow-force-delete-workspaces", label: "Admins of a workspace may delete it while it has resources", kind: "flag" },
	],
};

export default function General({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="general">
			{(view) => {
				const isAgent = text(view.organization, "default-execution-mode") === "agent";
				return (
					<>
						<p>
							Organization <CopyId id={view.org} />
						</p>
						<SettingsForm
							kind={isAgent ? { ...kind, fields: kind.fields.filter(({ name }) => name !== "default-execution-mode") } : kind}
							item={view.organization}
							reason={without(view, "can-update", "manage the organization")}
						/>
					</>
				);
			}}
		</SettingsFrame>
	);
}
