// SPDX-License-Identifier: MPL-2.0
import { useId, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Chip } from "../../components/status_mark.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt } from "../../core/hooks.ts";
import { may, texts } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import type { WorkspaceView } from "./frame.tsx";

function tagDocument(name: string) {
	return { data: [{ type: "tags", attributes: { name } }] };
}

// The tags of the workspace. A tag leads to the workspaces that have it.
export function Tags({ view }: { readonly view: WorkspaceView }) {
	const [name, setName] = useState("");
	const { error, attempt } = useAttempt();
	const id = useId();
	const allowed = may(view.workspace, "can-manage-tags");
	const send = (method: "POST" | "DELETE", tag: string) =>
		attempt(async () => {
			await change(method, address(`/workspaces/${segment(view.workspace.id)}/relationships/tags`), tagDocument(tag));
			setName("");
			await view.reload();
		});
	const list = pathTo("/app/:org/workspaces", { org: view.org });
	return (
		<section aria-labelledby="tags">
			<h2 id="tags">Tags</h2>
			<p>
				{texts(view.workspace, "tag-names").map((tag) => (
					<span key={tag} class="tag">
						<a href={`${list}?q=${encodeURIComponent(`tag:${tag}`)}`}>
							<Chip>{tag}</Chip>
						</a>
						{allowed && (
							<button type="button" class="icon-button" aria-label={`Remove the tag ${tag}`} onClick={() => send("DELETE", tag)}>
								✕
							</button>
						)}
					</span>
				))}
				{texts(view.workspace, "tag-names").length === 0 && <span class="muted">No tags</span>}
			</p>
			{allowed && (
				<form
					class="actions"
					onSubmit={(event) => {
						event.preventDefault();
						void send("POST", name);
					}}
				>
					<label class="sr-only" for={id}>
						New tag
					</label>
					<input id={id} placeholder="New tag" maxLength={255} value={name} onInput={(event) => setName(event.currentTarget.value)} />
					<Button reason={name.trim() ? undefined : "type a tag first"} onPress={() => send("POST", name)}>
						Add tag
					</Button>
				</form>
			)}
			<Problems of={error} />
		</section>
	);
}
