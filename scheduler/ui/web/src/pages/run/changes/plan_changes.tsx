// SPDX-License-Identifier: MPL-2.0
import { flag, type Resource, text } from "../../../core/resource.ts";
import { Counts } from "../header.tsx";

// What the plan changes: its counts.
export function PlanChanges({ plan }: { readonly plan: Resource }) {
	if (text(plan, "status") !== "finished") {
		return null;
	}
	return flag(plan, "has-changes") ? (
		<p>
			<Counts plan={plan} />
		</p>
	) : (
		<p>No changes. Infrastructure matches the configuration.</p>
	);
}
