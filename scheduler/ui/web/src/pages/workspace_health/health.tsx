// SPDX-License-Identifier: MPL-2.0
// The health of a workspace: whether it is assessed, what the last assessment found, and what can be done about it.

import { useEffect } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { timeOf } from "../../core/format.ts";
import { useAttempt, useDocument, useLive } from "../../core/hooks.ts";
import { flag, linkOf, may, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { framePath } from "../workspace/frame_links.ts";
import { History } from "./health_history.tsx";
import { LastResult } from "./health_result.tsx";
import { startReason, stateWord } from "./health_words.ts";

const kept = 100; // results of a workspace

export default function Health({ params }: PageProps) {
	return (
		<Frame params={params} page="health">
			{(view) => <WorkspaceHealth view={view} />}
		</Frame>
	);
}

function WorkspaceHealth({ view }: { readonly view: WorkspaceView }) {
	const path = `/workspaces/${segment(view.workspace.id)}`;
	const health = useDocument(address(`${path}/health`));
	const results = useDocument(address(`${path}/assessment-results`, { "page[size]": kept }));
	const current = linkOf(health.item, "current-assessment-result")?.id;
	useLive([`workspace:${view.workspace.id}`], () => void health.reload());
	useEffect(() => {
		if (results.asOf > 0 && current && !results.items.some(({ id }) => id === current)) {
			void results.reload();
		}
	}, [current, results.asOf]);
	const [last] = results.items;
	return (
		<Content of={health}>
			{() =>
				health.item && (
					<>
						<State view={view} health={health.item} />
						{last && !current && flag(health.item, "enabled") && (
							<p class="note">The workspace has changed since its last assessment, whose result follows.</p>
						)}
						<Content of={results}>
							{() =>
								last ? (
									<>
										<LastResult view={view} result={last} />
										<History view={view} results={results.items} />
									</>
								) : (
									<EmptyState title="No assessment yet">
										<p>
											An assessment plans the configuration of the last applied run, and changes nothing. It finds what was changed outside
											of Terraform, and evaluates the checks.
										</p>
									</EmptyState>
								)
							}
						</Content>
					</>
				)
			}
		</Content>
	);
}

type StateProps = { readonly view: WorkspaceView; readonly health: Resource };

function State({ view, health }: StateProps) {
	const { error, attempt } = useAttempt();
	const enabled = flag(health, "enabled");
	const refusal = text(health, "refusal");
	const start = () =>
		attempt(async () => {
			await change("POST", address(`/workspaces/${segment(view.workspace.id)}/health/actions/assess`));
			announce("The assessment has begun");
		});
	return (
		<section aria-labelledby="assessments">
			<h2 id="assessments">Assessments</h2>
			<dl class="facts">
				<Fact word="State">{stateWord(health)}</Fact>
				<Fact word="Next">
					<Next health={health} />
				</Fact>
			</dl>
			{!enabled && (
				<p class="note">
					Health assessments are off. <a href={framePath("settings", view.org, view.name)}>The workspace's settings turn them on</a>.
				</p>
			)}
			{enabled && refusal && <p class="note wait">{refusal}</p>}
			<Problems of={error} />
			<p class="actions">
				<Button onPress={start} reason={startReason(health, may(view.workspace, "can-update"))}>
					Start assessment
				</Button>
			</p>
		</section>
	);
}

function Next({ health }: { readonly health: Resource }) {
	const next = timeOf(health.attributes["next-at"]);
	if (flag(health, "is-underway")) {
		return (
			<span role="status">
				<Mark tone="running">Underway</Mark>
			</span>
		);
	}
	if (next === undefined || text(health, "refusal")) {
		return <>None planned</>;
	}
	return next > Date.now() ? <TimeAgo time={health.attributes["next-at"]} /> : <>Due: it begins when a worker has nothing else to do</>;
}
