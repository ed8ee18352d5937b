// SPDX-License-Identifier: MPL-2.0
// Which runs wait for the user.

import { address, readAll, segment } from "../../core/api.ts";
import { type Loaded, useDocument, useLive } from "../../core/hooks.ts";
import { can, may, type Resource, text } from "../../core/resource.ts";
import { operations, personStatuses } from "./query.ts";

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

// The runs of an organization that wait for a person, and that the user may confirm, override or discard.

export function useNeeds(org: string, include: string): { readonly list: Loaded; readonly runs: readonly Resource[] } {
	const list = useDocument(
		address(`/organizations/${segment(org)}/runs`, {
			"filter[status]": personStatuses,
			"filter[operation]": operations.map(([name]) => name).join(","),
			"page[size]": 100,
			include,
		}),
		readAll,
	);
	useLive([`org:${org}`], () => void list.reload());
	return { list, runs: list.items.filter(needsMe) };
}
