// SPDX-License-Identifier: MPL-2.0
import { segment } from "../../core/api.ts";
import type { PageProps } from "../../core/router.ts";
import { RunList } from "../runs/run_list.tsx";
import { Frame } from "./frame.tsx";

export default function WorkspaceRuns({ params }: PageProps) {
	return (
		<Frame params={params} page="runs">
			{({ org, name, workspace }) => (
				<RunList path={`/workspaces/${segment(workspace.id)}/runs`} topic={`workspace:${workspace.id}`} org={org} ws={name} />
			)}
		</Frame>
	);
}
