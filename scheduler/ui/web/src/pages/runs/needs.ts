// SPDX-License-Identifier: MPL-2.0
// Which runs wait for the user.

import { can, may, type Resource, text } from "../../core/resource.ts";

export function needsMe(run: Resource): boolean {
	const confirms = can(run, "is-confirmable") && may(run, "can-apply");
	const overrides = text(run, "status") === "policy_override" && may(run, "can-override-policy-check");
	const discards =
		(can(run, "is-confirmable") || text(run, "status") === "policy_override") && can(run, "is-discardable") && may(run, "can-discard");
	return confirms || overrides || discards;
}

// needWord: the actions that the user has, in the words of the run page.
export function needWord(run: Resource): string {
	if (can(run, "is-confirmable") && may(run, "can-apply")) {
		return "Confirm or discard";
	}
	if (text(run, "status") === "policy_override" && may(run, "can-override-policy-check")) {
		return "Override or discard";
	}
	return "Discard";
}
