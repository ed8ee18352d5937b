// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button, DialogButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt } from "../../core/hooks.ts";
import { may } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { mayManage, needsAdmin, ReadOnlyNote, SettingsFrame } from "../workspace_settings/settings_frame.tsx";
import { useRepositoryFields } from "./repository_fields.tsx";
import { attributesOf, isConnected, missing, type RepositoryValues, valuesOf } from "./repository_form.ts";
import { RepositoryPanel } from "./repository_panel.tsx";

export default function VersionControl({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="version-control">
			{(view) => <Panel view={view} />}
		</SettingsFrame>
	);
}

function Panel({ view }: { readonly view: WorkspaceView }) {
	const connected = isConnected(view.workspace);
	return (
		<>
			<ReadOnlyNote shown={!mayManage(view)} what="these settings" />
			{connected ? (
				<RepositoryPanel view={view} />
			) : (
				<p>
					Configurations of this workspace are uploaded by the CLI or the API. With a repository, its commits start runs, and only they can
					be applied.
				</p>
			)}
			<RepositoryForm key={view.workspace.id} view={view} connected={connected} />
			{connected && <Disconnect view={view} />}
		</>
	);
}

function save(view: WorkspaceView, attributes: Record<string, unknown>): Promise<unknown> {
	return change("PATCH", address(`/workspaces/${segment(view.workspace.id)}`), { data: { type: "workspaces", attributes } });
}

// The edited values. They are kept after an error.
function RepositoryForm({ view, connected }: { readonly view: WorkspaceView; readonly connected: boolean }) {
	const [typed, setTyped] = useState<Partial<RepositoryValues>>({});
	const { error, attempt } = useAttempt();
	const stored = valuesOf(view.workspace);
	const values = { ...stored, ...typed };
	const fields = useRepositoryFields(view, values, stored.identifier);
	const attributes = attributesOf(values, view.workspace);
	const unchanged = Object.keys(attributes).length === 0 ? "nothing has changed" : undefined;
	const reason = mayManage(view) ? (missing(values) ?? unchanged) : needsAdmin;
	const submit = () =>
		attempt(async () => {
			await save(view, attributes);
			announce(connected ? "The settings are saved" : "The repository is connected");
			setTyped({});
			await view.reload();
		});
	return (
		<>
			<h3>{connected ? "Settings" : "Connect a repository"}</h3>
			<fieldset class="bare" disabled={!mayManage(view)}>
				<ObjectFields
					fields={fields}
					values={values}
					error={error}
					onValue={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
				/>
			</fieldset>
			<Problems of={error} fields={pointersOf(fields)} />
			<div class="actions">
				<Button kind="primary" reason={reason} onPress={submit}>
					{connected ? "Save settings" : "Connect repository"}
				</Button>
				{Object.keys(typed).length > 0 && <Button onPress={() => setTyped({})}>Undo changes</Button>}
			</div>
		</>
	);
}

function Disconnect({ view }: { readonly view: WorkspaceView }) {
	const disconnect = async () => {
		await save(view, { "vcs-repo": null });
		announce("The repository is disconnected");
		await view.reload();
	};
	return (
		<>
			<h3>Disconnect</h3>
			<p>Commits start no more runs. Earlier runs, states and variables stay, and configurations can be uploaded again.</p>
			<DialogButton
				kind="danger"
				reason={mayManage(view) ? undefined : needsAdmin}
				dialog={(close) => (
					<Dialog title={`Disconnect ${view.name}`} confirm="Disconnect" danger onConfirm={disconnect} onClose={close}>
						<p>
							{may(view.workspace, "can-queue-run")
								? "Runs that have started go on. Runs that wait for the files of a commit may not find them."
								: "Runs that have started go on."}
						</p>
						<p>
							<a href={pathTo("/app/:org/workspaces/:ws/runs", { org: view.org, ws: view.name })}>Runs of the workspace</a>
						</p>
					</Dialog>
				)}
			>
				Disconnect repository
			</DialogButton>
		</>
	);
}
