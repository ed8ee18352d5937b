// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { FieldError, SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt, useDocument } from "../../core/hooks.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { namesOf } from "../../objects/kinds.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { mayManage, needsAdmin, ReadOnlyNote, SettingsFrame, WorkspaceForm } from "./settings_frame.tsx";

const fields: readonly FieldRow[] = [
	{ name: "global-remote-state", label: "Share with the whole organization", kind: "flag" },
	{ name: "project-remote-state", label: "Share with the workspaces of its project", kind: "flag" },
];

export default function RemoteState({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="remote-state">
			{(view) => (
				<>
					<p>Runs of other workspaces can read the outputs of this one with terraform_remote_state or tfe_outputs.</p>
					<ReadOnlyNote shown={!mayManage(view)} what="these settings" />
					<WorkspaceForm view={view} section="remote-state" fields={fields} />
					{!flag(view.workspace, "global-remote-state") && <Consumers view={view} />}
				</>
			)}
		</SettingsFrame>
	);
}

// The workspaces that may read the state, one by one.
function Consumers({ view }: { readonly view: WorkspaceView }) {
	const path = address(`/workspaces/${segment(view.workspace.id)}/relationships/remote-state-consumers`);
	const consumers = useDocument(`${path}?page%5Bsize%5D=100`);
	const all = useDocument(address(`/organizations/${segment(view.org)}/workspaces`, { "page[size]": 100, sort: "name" }));
	const [chosen, setChosen] = useState("");
	const { error, attempt } = useAttempt();
	const reason = mayManage(view) ? undefined : needsAdmin;
	const save = (method: "POST" | "DELETE", id: string, said: string) =>
		attempt(async () => {
			await change(method, path, { data: [{ type: "workspaces", id }] });
			announce(said);
			setChosen("");
			await consumers.reload();
		});
	const shared = new Set([view.workspace.id, ...consumers.items.map((item) => item.id)]);
	const options = namesOf(all.items.filter((item) => !shared.has(item.id)));
	return (
		<>
			<h3>Share with single workspaces</h3>
			<Content of={consumers}>
				{() =>
					consumers.items.length === 0 ? (
						<p class="muted">None.</p>
					) : (
						<ul class="row-list">
							{consumers.items.map((item) => (
								<Consumer
									key={item.id}
									org={view.org}
									item={item}
									reason={reason}
									onRemove={() => save("DELETE", item.id, "No longer shared")}
								/>
							))}
						</ul>
					)
				}
			</Content>
			<SelectField label="Workspace" options={[["", "Choose a workspace"], ...options]} value={chosen} onValue={setChosen} />
			<FieldError>{error?.message}</FieldError>
			<Button reason={reason ?? (chosen ? undefined : "no workspace is chosen")} onPress={() => save("POST", chosen, "Shared")}>
				Share
			</Button>
		</>
	);
}

type ConsumerProps = {
	readonly org: string;
	readonly item: Resource;
	readonly reason: string | undefined;
	readonly onRemove: () => unknown;
};

function Consumer({ org, item, reason, onRemove }: ConsumerProps) {
	const name = text(item, "name");
	return (
		<li>
			<a href={pathTo("/app/:org/workspaces/:ws", { org, ws: name })}>{name}</a>{" "}
			<Button reason={reason} label={`Remove ${name}`} onPress={onRemove}>
				Remove
			</Button>
		</li>
	);
}
