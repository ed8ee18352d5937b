// SPDX-License-Identifier: MPL-2.0
import type { FieldRow } from "../../objects/fields.ts";
import { SettingsPage } from "./settings_page.tsx";

const timeoutHint = "Such as 2h or 1h30m. Empty: no limit of the site. Organizations can have their own.";

const fields: readonly FieldRow[] = [
	{ name: "api-rate-limiting-enabled", label: "Limit the rate of requests", kind: "flag" },
	{
		name: "api-rate-limit",
		label: "Requests a second",
		kind: "number",
		hint: "Of one token at one scheduler, 30 to 1,000,000.",
		shown: (values) => values["api-rate-limiting-enabled"] === true,
	},
	{
		name: "limit-user-organization-creation",
		label: "Only site admins create organizations",
		kind: "flag",
	},
	{
		name: "password-sign-in-enabled",
		label: "People sign in with passwords",
		kind: "flag",
		hint: "Otherwise only break-glass accounts do, and all others sign in through an identity provider.",
	},
	{ name: "limit-organizations-per-user", label: "Limit the organizations that a person owns", kind: "flag" },
	{
		name: "default-organizations-per-user-ceiling",
		label: "Organizations of a person",
		kind: "number",
		shown: (values) => values["limit-organizations-per-user"] === true,
	},
	{ name: "limit-workspaces-per-organization", label: "Limit the workspaces of organizations", kind: "flag" },
	{
		name: "default-workspaces-per-organization-ceiling",
		label: "Workspaces of an organization",
		kind: "number",
		hint: "Organizations can have their own limit.",
		shown: (values) => values["limit-workspaces-per-organization"] === true,
	},
	{
		name: "allow-speculative-plans-on-pull-requests-from-forks",
		label: "Plan pull requests of forks, after an approval",
		kind: "flag",
		hint: "In workspaces without a setting of their own.",
	},
	{
		name: "send-passing-statuses-for-untriggered-speculative-plans",
		label: "Workspaces that a pull request does not concern report that they pass",
		kind: "flag",
		hint: "In organizations without a setting of their own, which have a status for each workspace.",
	},
	{
		name: "unused-token-days",
		label: "Delete tokens that are unused for (days)",
		kind: "number",
		hint: "Of people, teams and organizations. 0: never.",
	},
	{
		name: "require-two-factor-for-admins",
		label: "Site admins need two-factor authentication",
		kind: "flag",
		hint: "Site admins without it can only set it up. People who sign in through a provider are exempt.",
	},
	{
		name: "default-remote-state-access",
		label: "New workspaces share their state with their organization",
		kind: "flag",
	},
	{ name: "plan-timeout", label: "Time limit of plans", kind: "text", nullable: true, hint: timeoutHint },
	{ name: "apply-timeout", label: "Time limit of applies", kind: "text", nullable: true, hint: timeoutHint },
];

export default function AdminGeneral() {
	return <SettingsPage section="general" type="general-settings" fields={fields} />;
}
