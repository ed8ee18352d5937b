// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button, DialogButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FieldError, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { TextLink } from "../../components/safe_link.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt, useDocument } from "../../core/hooks.ts";
import { may } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { repositoryOf } from "../../vcs/repository.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { commitRun } from "./commit_run.ts";
import { RepositoryHook, RepositoryLooks } from "./repository_state.tsx";

const needsPlan = "you need plan access to this workspace";

// The connected repository: its state, its hook, and what can be done at once.
export function RepositoryPanel({ view }: { readonly view: WorkspaceView }) {
	const { error, attempt } = useAttempt();
	const { id, identifier, href } = repositoryOf(view.workspace);
	const repository = useDocument(id ? address(`/vcs-repositories/${segment(id)}`) : undefined);
	const reason = may(view.workspace, "can-queue-run") ? undefined : needsPlan;
	const check = () =>
		attempt(async () => {
			await change("POST", address(`/workspaces/${segment(view.workspace.id)}/actions/vcs-check`));
			announce("The repository will be looked at");
			await repository.reload();
		});
	return (
		<section class="panel" aria-label="Repository">
			<p>
				<strong>
					<TextLink href={href}>
						<bdi>{identifier}</bdi>
					</TextLink>
				</strong>{" "}
				<a href={`${pathTo("/app/:org/vcs/events", { org: view.org })}?workspace=${encodeURIComponent(view.name)}`}>Events</a>
			</p>
			{repository.item && <RepositoryLooks repository={repository.item} />}
			<div class="actions">
				<Button reason={reason} onPress={check}>
					Check now
				</Button>
				<DialogButton reason={reason} dialog={(close) => <CommitDialog view={view} onClose={close} />}>
					Run a commit
				</DialogButton>
			</div>
			<FieldError>{error?.message}</FieldError>
			{repository.item && (
				<>
					<h3>Webhook</h3>
					<RepositoryHook repository={repository.item} onDone={repository.reload} />
				</>
			)}
		</section>
	);
}

function CommitDialog({ view, onClose }: { readonly view: WorkspaceView; readonly onClose: () => void }) {
	const [sha, setSha] = useState("");
	const run = async () => {
		await commitRun({ org: view.org, workspace: view.workspace.id }, sha.trim().toLowerCase());
		announce("The run is requested");
	};
	return (
		<Dialog title="Run a commit" confirm="Queue run" fields={["/data/attributes/commit-sha"]} onConfirm={run} onClose={onClose}>
			{(error) => (
				<TextField
					label="Commit"
					hint="Its full SHA. Empty: the newest commit of the branch. A commit that has run already runs again."
					error={error}
					pointer="/data/attributes/commit-sha"
					value={sha}
					onValue={setSha}
				/>
			)}
		</Dialog>
	);
}
