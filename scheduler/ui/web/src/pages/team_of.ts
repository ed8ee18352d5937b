// SPDX-License-Identifier: MPL-2.0
import { linkOf, type Resource, text } from "../core/resource.ts";
import { store } from "../core/store.ts";

// teamOf: the name of the team of an access to a workspace or a project, or its id.
export function teamOf(access: Resource): string {
	const link = linkOf(access, "team");
	return text(store.get(link), "name") || link?.id || "";
}
