// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../../components/button.tsx";
import { duration } from "../../../core/format.ts";
import { useNow } from "../../../core/hooks.ts";
import type { RunView } from "../view.ts";
import { type Action, actions, forceCancelWait } from "./table.ts";

// Enabled from force-cancel-available-at on; until then it counts down.
function ForceCancel({ action, view }: { readonly action: Action; readonly view: RunView }) {
	const left = forceCancelWait(view.run, useNow());
	const reason = !action.right(view) ? action.needed : left > 0 ? `possible in ${duration(left)}` : undefined;
	return (
		<Button kind="danger" reason={reason} onPress={() => view.act(action.key)}>
			Force Cancel{left > 0 && ` (${duration(left)})`}
		</Button>
	);
}

type Props = {
	readonly view: RunView;
	readonly main?: boolean; // in the header
	readonly workspace?: boolean; // with the actions on the workspace
};

// The run's buttons. They stand in the header, in the stage that waits, and again at the end of the page.
export function Actions({ view, main = false, workspace = false }: Props) {
	const shown = actions.filter((action) => action.shown(view) && (workspace || !action.ofWorkspace));
	return (
		<div class="actions">
			{shown.map((action) =>
				action.key === "force" ? (
					<ForceCancel key={action.key} action={action} view={view} />
				) : (
					<Button
						key={action.key}
						{...(main && action.key === "apply" && { id: "confirm-apply" })}
						kind={action.kind(view)}
						reason={action.right(view) ? undefined : action.needed}
						onPress={() => view.act(action.key)}
					>
						{action.word(view)}
					</Button>
				),
			)}
		</div>
	);
}
