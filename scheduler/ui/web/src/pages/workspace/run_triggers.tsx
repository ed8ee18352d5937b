// SPDX-License-Identifier: MPL-2.0
import { useId, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Suggestions } from "../../components/field.tsx";
import { address, change, read, segment } from "../../core/api.ts";
import { useAttempt, useDocument } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import type { WorkspaceView } from "./frame.tsx";

function WorkspaceLink({ org, name }: { readonly org: string; readonly name: string }) {
	return <a href={pathTo("/app/:org/workspaces/:ws", { org, ws: name })}>{name}</a>;
}

type AddProps = { readonly view: WorkspaceView; readonly onAdd: (name: string, onAdded: () => void) => Promise<void> };

// The name of a workspace; those whose names have the typed part are suggested.
function AddSource({ view, onAdd }: AddProps) {
	const [name, setName] = useState("");
	const id = useId();
	const path = `/organizations/${segment(view.org)}/workspaces`;
	const found = useDocument(name ? address(path, { "search[name]": name, "page[size]": 20, sort: "name" }) : undefined);
	const others = found.items.filter((item) => item.id !== view.workspace.id);
	const add = () => onAdd(name, () => setName(""));
	return (
		<div class="actions">
			<label class="sr-only" for={id}>
				Source workspace
			</label>
			<input
				id={id}
				list={`${id}-found`}
				placeholder="Source workspace"
				autocomplete="off"
				value={name}
				onInput={(event) => setName(event.currentTarget.value)}
			/>
			<Suggestions id={`${id}-found`} texts={others.map((item) => text(item, "name"))} />
			<Button reason={name ? undefined : "name a workspace first"} onPress={add}>
				Add source
			</Button>
		</div>
	);
}

// The workspaces whose applied runs start a run here, and those that start one after a run of this workspace.
export function RunTriggers({ view }: { readonly view: WorkspaceView }) {
	const { error, attempt } = useAttempt();
	const path = `/workspaces/${segment(view.workspace.id)}/run-triggers`;
	const inbound = useDocument(address(path, { "filter[run-trigger][type]": "inbound", "page[size]": 100 }));
	const outbound = useDocument(address(path, { "filter[run-trigger][type]": "outbound", "page[size]": 100 }));
	const allowed = may(view.workspace, "can-update");
	const add = (name: string, onAdded: () => void) =>
		attempt(async () => {
			const source = (await read(address(`/organizations/${segment(view.org)}/workspaces/${segment(name)}`))).data as Resource;
			const relationships = { sourceable: { data: { type: "workspaces", id: source.id } } };
			await change("POST", address(path), { data: { type: "run-triggers", relationships } });
			onAdded();
			await inbound.reload();
		});
	const remove = (trigger: Resource) =>
		attempt(async () => {
			await change("DELETE", address(`/run-triggers/${segment(trigger.id)}`));
			await inbound.reload();
		});
	return (
		<section aria-labelledby="run-triggers">
			<h2 id="run-triggers">Run triggers</h2>
			<p class="hint">After a run of a source workspace was applied, a run starts here.</p>
			<ul class="bullet-list" aria-label="Sources">
				{inbound.items.map((trigger) => (
					<li key={trigger.id}>
						<WorkspaceLink org={view.org} name={text(trigger, "sourceable-name")} />
						{allowed && (
							<button
								type="button"
								class="icon-button"
								aria-label={`Remove the source ${text(trigger, "sourceable-name")}`}
								onClick={() => remove(trigger)}
							>
								✕
							</button>
						)}
					</li>
				))}
			</ul>
			{allowed && <AddSource view={view} onAdd={add} />}
			<Problems of={error} />
			{outbound.items.length > 0 && (
				<p>
					An applied run here starts one in{" "}
					{outbound.items.map((trigger, i) => (
						<span key={trigger.id}>
							{i > 0 && ", "}
							<WorkspaceLink org={view.org} name={text(trigger, "workspace-name")} />
						</span>
					))}
					.
				</p>
			)}
		</section>
	);
}
