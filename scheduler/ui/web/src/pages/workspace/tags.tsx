// SPDX-License-Identifier: MPL-2.0
import { address, change, segment } from "../../core/api.ts";
import { may, texts } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { TagsSection } from "../../objects/tags.tsx";
import type { WorkspaceView } from "./frame.tsx";

// The tags of the workspace that have no value.
export function Tags({ view }: { readonly view: WorkspaceView }) {
	const send = async (method: "POST" | "DELETE", name: string) => {
		const url = address(`/workspaces/${segment(view.workspace.id)}/relationships/tags`);
		await change(method, url, { data: [{ type: "tags", attributes: { name } }] });
		await view.reload();
	};
	return (
		<TagsSection
			tags={texts(view.workspace, "tag-names").map((key) => ({ key, value: "" }))}
			path={pathTo("/app/:org/workspaces", { org: view.org })}
			able={may(view.workspace, "can-manage-tags")}
			onAdd={({ key }) => send("POST", key)}
			onRemove={({ key }) => send("DELETE", key)}
		/>
	);
}
