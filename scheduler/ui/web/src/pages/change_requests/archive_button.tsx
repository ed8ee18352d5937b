// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { FieldError } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";

type Props = { readonly view: WorkspaceView; readonly request: Resource; readonly onDone: () => Promise<void> };

// Archives an open request: what it asks for is done.
export function ArchiveButton({ view, request, onDone }: Props) {
	const { error, attempt } = useAttempt();
	const archive = () =>
		attempt(async () => {
			await change("POST", address(`/workspaces/change-requests/${segment(request.id)}`));
			announce("The change request is archived");
			await onDone();
		});
	return (
		<>
			<FieldError>{error?.message}</FieldError>
			<Button
				label={`Archive ${text(request, "subject")}`}
				reason={may(view.workspace, "can-queue-apply") ? undefined : "you need write access to this workspace"}
				onPress={archive}
			>
				Archive
			</Button>
		</>
	);
}
