// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../components/fold.tsx";
import { counted } from "../../core/format.ts";
import type { Target } from "../workspaces/bulk_send.ts";

// The workspaces of an action: open if there are few.
export function TargetList({ targets }: { readonly targets: readonly Target[] }) {
	return (
		<Fold summary={counted(targets.length, "workspace")} open={targets.length <= 10}>
			{() => (
				<ul>
					{targets.map(({ id, name }) => (
						<li key={id}>{name}</li>
					))}
				</ul>
			)}
		</Fold>
	);
}
