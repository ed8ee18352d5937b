// SPDX-License-Identifier: MPL-2.0
import { type Resource, text } from "../../../core/resource.ts";
import { pathTo } from "../../../core/router.ts";
import { store } from "../../../core/store.ts";
import { commitOf } from "../../../vcs/commit.ts";
import { Sha } from "../../../vcs/commit_line.tsx";
import { placeOf, type RunView } from "../view.ts";
import type { Stage } from "./stage_list.ts";

// fetchError: why the files of the commit could not be fetched, or "".
export function fetchError(run: Resource, configuration: Resource | undefined): string {
	return text(configuration, "error-message") || text(configuration, "error") || text(run, "error");
}

// What is fetched, and why it could not be.
export function FetchContent({ view, stage }: { readonly view: RunView; readonly stage: Stage }) {
	const commit = commitOf(view.run);
	const error = stage.state === "failed" ? fetchError(view.run, store.one(view.run, "configuration-version")) : "";
	const params = placeOf(view);
	return (
		<>
			{commit && (
				<p>
					The files of commit <Sha sha={commit.sha} href={commit.href} /> of <bdi>{commit.repository}</bdi>
					{stage.state === "running" ? " are being fetched. Runs of the same commit share them." : "."}
				</p>
			)}
			{error && (
				<div class="note failure">
					<p>
						<bdi>{error}</bdi>
					</p>
					<p>
						<a href={pathTo("/app/:org/workspaces/:ws/settings/version-control", params)}>Settings of the repository</a>
					</p>
				</div>
			)}
		</>
	);
}
