// SPDX-License-Identifier: MPL-2.0
import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { partLoad } from "../../core/part.ts";
import { flag, may, text } from "../../core/resource.ts";
import type { UpgradeProps } from "../modules/upgrade_dialog.tsx";
import type { WorkspaceView } from "./frame.tsx";
import { queueReason } from "./frame_links.ts";

// The module of a workspace provisions another version than the workspace has: private/acme/network/aws/1.0.0
export function UpgradeNotice({ view }: { readonly view: WorkspaceView }) {
	const { workspace } = view;
	const [Shown, setShown] = useState<ComponentType<UpgradeProps> | undefined>();
	if (!flag(workspace, "no-code-upgrade-available")) {
		return null;
	}
	const [, , module = "", , version = ""] = text(workspace, "source-module-id").split("/");
	const open = async () => {
		const { UpgradeDialog } = await partLoad(() => import("../modules/upgrade_dialog.tsx"));
		setShown(() => UpgradeDialog);
	};
	return (
		<section class="note wait" aria-label="Upgrade">
			<p>{`This workspace has version ${version} of the module ${module}, which now provisions another version.`}</p>
			<Button reason={queueReason(workspace, may(workspace, "can-queue-run"))} onPress={open}>
				Upgrade
			</Button>
			{Shown && <Shown view={view} onClose={() => setShown(undefined)} />}
		</section>
	);
}
