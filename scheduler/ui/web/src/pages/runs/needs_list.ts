// SPDX-License-Identifier: MPL-2.0
// The runs of an organization that wait for a person, and that the user may confirm, override or discard.

import { address, segment } from "../../core/api.ts";
import { type Loaded, useDocument, useLive } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import { needsMe } from "./needs.ts";
import { operations, personStatuses } from "./query.ts";

export function useNeeds(org: string, include: string): { readonly list: Loaded; readonly runs: readonly Resource[] } {
	const list = useDocument(
		address(`/organizations/${segment(org)}/runs`, {
			"filter[status]": personStatuses,
			"filter[operation]": operations.map(([name]) => name).join(","),
			"page[size]": 50,
			include,
		}),
	);
	useLive([`org:${org}`], () => void list.reload());
	return { list, runs: list.items.filter(needsMe) };
}
