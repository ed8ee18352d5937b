// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Content } from "../../components/states.tsx";
import { runTone, runWord } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { shortId } from "../../core/format.ts";
import { missingUnless, useDocument, useLive, useQuery } from "../../core/hooks.ts";
import { linkOf, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { runTitle } from "../../core/run_title.ts";
import { isFinal } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { FrameBar } from "../workspace/frame_header.tsx";
import { useNameOf } from "../workspace/renamed.ts";
import { Actions } from "./actions/actions.tsx";
import { ActionDialog } from "./actions/dialog.tsx";
import { actions } from "./actions/table.ts";
import { useChanges } from "./changes_summary.ts";
import { Comments } from "./comments.tsx";
import { Facts } from "./facts.tsx";
import { Header } from "./header.tsx";
import { Notes } from "./notes.tsx";
import { Stages } from "./stages/stages.tsx";
import { includes, partsOf, type RunView } from "./view.ts";
import { Waiting } from "./waiting.tsx";

export default function Run({ params }: PageProps) {
	const { org = "", ws = "", run: id = "" } = params;
	const found = useDocument(address(`/runs/${segment(id)}`, { include: includes }));
	const owner = linkOf(store.get(linkOf(found.item, "workspace")), "organization")?.id;
	const document = missingUnless(owner === undefined || owner.toLowerCase() === org.toLowerCase(), found);
	const [open, setOpen] = useState<string | undefined>();
	const reader = useQuery().get("view") === "reader";
	const run = document.item;
	const changes = useChanges(run && partsOf(run).plan);
	const workspace = linkOf(run, "workspace")?.id;
	useLive([`run:${id}`, ...(workspace ? [`workspace:${workspace}`] : [])], () => void document.reload());
	useTitle([run ? runTitle(run) : "Run", ws], run && !isFinal(text(run, "status")) ? runWord(run) : "", run && runTone(run));
	useNameOf(org, ws, store.get(linkOf(run, "workspace")));
	const view: RunView | undefined = run && {
		run,
		workspace: store.get(linkOf(run, "workspace")),
		parts: partsOf(run),
		events: store.many(run, "run-events"),
		changes,
		reader,
		reload: document.reload,
		act: setOpen,
	};
	const action = actions.find((item) => item.key === open);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: ws, href: pathTo("/app/:org/workspaces/:ws", { org, ws }) },
					{ word: shortId(id) },
				]}
			/>
			{view?.workspace && !reader && (
				<FrameBar view={{ org, name: ws, workspace: view.workspace, run, reload: document.reload }} page="runs" />
			)}
			<Content of={document}>{() => view && <RunPage view={view} />}</Content>
			{view && action && <ActionDialog key={action.key} action={action} view={view} onClose={() => setOpen(undefined)} />}
		</>
	);
}

function RunPage({ view }: { readonly view: RunView }) {
	const ended = isFinal(text(view.run, "status"));
	return (
		<article class={`run ${view.reader ? "reader" : ""}`}>
			<Header view={view} />
			{!ended && <Waiting run={view.run} />}
			<Notes view={view} />
			<Facts view={view} />
			<Stages view={view} />
			<Comments view={view} />
			{!view.reader && (
				<footer class="run-footer">
					<Actions view={view} workspace />
				</footer>
			)}
		</article>
	);
}
