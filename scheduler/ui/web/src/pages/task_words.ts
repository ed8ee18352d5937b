// SPDX-License-Identifier: MPL-2.0
// Stages and enforcement of run tasks, for those of workspaces and of the organization.

export const stages = [
	["pre_plan", "Pre-plan"],
	["post_plan", "Post-plan"],
	["pre_apply", "Pre-apply"],
	["post_apply", "Post-apply"],
] as const;

export const enforcements = [
	["mandatory", "Mandatory: a failure ends the run"],
	["advisory", "Advisory: a failure leaves a warning"],
] as const;
