// SPDX-License-Identifier: MPL-2.0
import { Content } from "../../components/states.tsx";
import { runTone, runWord } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { shortId } from "../../core/format.ts";
import { type Loaded, useDocument, useLive } from "../../core/hooks.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { isFinal } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { Actions } from "./actions.tsx";
import { Comments } from "./comments.tsx";
import { Facts, Header } from "./header.tsx";
import { Stages } from "./stages.tsx";
import { Waiting } from "./waiting.tsx";

export type RunView = {
	readonly run: Resource;
	readonly workspace: Resource | undefined;
	readonly policyChecks: readonly Resource[];
	readonly taskStages: readonly Resource[];
	readonly reload: () => Promise<void>;
};

const includes = "plan,apply,created_by,confirmed_by,canceled_by,workspace,cost_estimate,configuration_version,comments";

// Reads the lists of the run that a document of the run can't include.
function useRelated(run: Resource | undefined, relation: string, path: string): Loaded {
	const there = (run?.relationships?.[relation]?.data as readonly unknown[] | undefined)?.length ?? 0;
	return useDocument(run && there > 0 ? address(`/runs/${segment(run.id)}/${path}`) : undefined);
}

export default function Run({ params }: PageProps) {
	const { org = "", ws = "", run: id = "" } = params;
	const document = useDocument(address(`/runs/${segment(id)}`, { include: includes }));
	const run = document.item;
	const checks = useRelated(run, "policy-checks", "policy-checks");
	const tasks = useRelated(run, "task-stages", "task-stages?include=task_results");
	const reload = async () => {
		await Promise.all([document.reload(), checks.reload(), tasks.reload()]);
	};
	useLive(run && isFinal(text(run, "status")) ? [] : [`run:${id}`], () => void reload());
	useTitle(
		[run ? text(run, "message") || shortId(id) : "Run", ws],
		run && !isFinal(text(run, "status")) ? runWord(run) : "",
		run && runTone(run),
	);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: ws, href: pathTo("/app/:org/workspaces/:ws", { org, ws }) },
					{ word: shortId(id) },
				]}
			/>
			<Content of={document}>
				{() =>
					run && (
						<RunPage
							view={{
								run,
								workspace: store.get(linkOf(run, "workspace")),
								policyChecks: checks.items,
								taskStages: tasks.items,
								reload,
							}}
						/>
					)
				}
			</Content>
		</>
	);
}

function RunPage({ view }: { readonly view: RunView }) {
	const ended = isFinal(text(view.run, "status"));
	return (
		<article class="run">
			<Header view={view} />
			{!ended && <Waiting run={view.run} />}
			<Facts view={view} />
			<Stages view={view} />
			<Comments view={view} />
			{!ended && (
				<footer class="actions">
					<Actions view={view} />
				</footer>
			)}
		</article>
	);
}
