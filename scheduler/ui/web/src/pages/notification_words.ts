// SPDX-License-Identifier: MPL-2.0
// Destinations and events of notifications, for those of workspaces, projects and teams.

export const destinations = [
	["generic", "Webhook"],
	["slack", "Slack"],
	["microsoft-teams", "Microsoft Teams"],
	["email", "E-mail"],
] as const;

export const triggers = [
	["run:created", "Run created"],
	["run:planning", "Plan starts"],
	["run:needs_attention", "Needs attention"],
	["run:applying", "Apply starts"],
	["run:completed", "Run completed"],
	["run:errored", "Run errored"],
	["workspace:auto_destroy_reminder", "Reminder before an automatic destroy"],
	["workspace:auto_destroy_run_results", "Result of an automatic destroy"],
] as const;
