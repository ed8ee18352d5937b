// SPDX-License-Identifier: MPL-2.0
// The overview of a workspace: what it does now, what it made, and its connections.

import { useEffect } from "preact/hooks";
import { Content } from "../../components/states.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, may, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Frame, type WorkspaceView } from "./frame.tsx";
import { OverviewHealth } from "./overview_health.tsx";
import { Numbers } from "./overview_numbers.tsx";
import { Outputs } from "./overview_outputs.tsx";
import { Resources } from "./overview_resources.tsx";
import { NowAndNext } from "./overview_runs.tsx";
import { UpgradeNotice } from "./overview_upgrade.tsx";
import { RunTriggers } from "./run_triggers.tsx";
import { Tags } from "./tags.tsx";

export default function Overview({ params }: PageProps) {
	return (
		<Frame params={params} page="overview" include="current_run.configuration_version.ingress_attributes,current_assessment_result">
			{(view) => <OverviewPage view={view} />}
		</Frame>
	);
}

// Outputs and README are read again only after the state or the configuration has changed.
function Made({ view }: { readonly view: WorkspaceView }) {
	const { workspace } = view;
	const made = useDocument(address(`/workspaces/${segment(workspace.id)}`, { include: "outputs,readme" }));
	const version = `${linkOf(workspace, "current-state-version")?.id} ${linkOf(workspace, "current-configuration-version")?.id}`;
	useEffect(() => {
		if (made.asOf > 0) {
			void made.reload();
		}
	}, [version]);
	const readme = text(store.one(made.item, "readme"), "raw-markdown");
	return (
		<Content of={made}>
			{() => (
				<>
					<Outputs workspace={workspace} outputs={store.many(made.item, "outputs")} />
					<Resources key={version} view={view} />
					{readme && (
						<section aria-labelledby="readme">
							<h2 id="readme">README</h2>
							<Markdown text={readme} below={2} />
						</section>
					)}
				</>
			)}
		</Content>
	);
}

function OverviewPage({ view }: { readonly view: WorkspaceView }) {
	const { workspace } = view;
	const description = text(workspace, "description");
	return (
		<div class="overview">
			<div class="overview-main">
				{description && <p>{description}</p>}
				<UpgradeNotice view={view} />
				{may(workspace, "can-read-run") && <NowAndNext view={view} />}
				<Made view={view} />
			</div>
			<aside class="overview-side" aria-label="About the workspace">
				<Numbers view={view} />
				<OverviewHealth view={view} />
				<Tags view={view} />
				{may(workspace, "can-read-run") && <RunTriggers view={view} />}
			</aside>
		</div>
	);
}
