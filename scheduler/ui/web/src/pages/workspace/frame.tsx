// SPDX-License-Identifier: MPL-2.0
// What all pages of a workspace show: its name, lock, current run, Queue Plan, and the links to its other pages.

import type { ComponentChildren } from "preact";
import { Content } from "../../components/states.tsx";
import { runTone, runWord } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { type Params, pathTo } from "../../core/router.ts";
import { isFinal } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { FrameHeader } from "./frame_header.tsx";
import { type FramePage, frameWords } from "./frame_links.ts";
import { useRenamed } from "./renamed.ts";

export type WorkspaceView = {
	readonly org: string;
	readonly name: string;
	readonly workspace: Resource;
	readonly run: Resource | undefined; // the current run, which may have ended
	readonly reload: () => Promise<void>;
};

type Props = {
	readonly params: Params; // org, ws
	readonly page: FramePage;
	readonly word?: string; // of the page within its tab, such as "Locking"
	readonly include?: string; // more relations of the workspace, for the page
	readonly needs?: { readonly right: string; readonly note: string }; // without the right the page has only the note
	readonly children: (view: WorkspaceView) => ComponentChildren;
};

const includes = "current_run,project,locked_by";

// The frame has the h1 and the title; the page's own headings begin at h2.
export function Frame({ params, page, word = "", include = "", needs, children }: Props) {
	const { org = "", ws: name = "" } = params;
	const path = `/organizations/${segment(org)}/workspaces/${segment(name)}`;
	const document = useDocument(address(path, { include: include ? `${includes},${include}` : includes }));
	useRenamed(org, name, document);
	const workspace = document.item;
	const run = store.one(workspace, "current-run");
	const going = run && !isFinal(text(run, "status")) ? run : undefined;
	const shown = word || frameWords[page];
	useLive(workspace ? [`workspace:${workspace.id}`] : [], () => void document.reload());
	useTitle(page === "overview" ? [name] : [shown, name], going && runWord(going), going && runTone(going));
	return (
		<>
			<Breadcrumb crumbs={crumbsOf(org, name, workspace, page === "overview" ? "" : shown)} />
			<Content of={document}>
				{() => {
					if (!workspace) {
						return null;
					}
					const view = { org, name, workspace, run, reload: document.reload };
					return (
						<>
							<FrameHeader view={view} page={page} word={shown} />
							{needs && !may(workspace, needs.right) ? <p class="note">{needs.note}</p> : children(view)}
						</>
					);
				}}
			</Content>
		</>
	);
}

function crumbsOf(org: string, name: string, workspace: Resource | undefined, word: string) {
	const project = store.one(workspace, "project");
	const here = pathTo("/app/:org/workspaces/:ws", { org, ws: name });
	return [
		{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
		...(project ? [{ word: text(project, "name"), href: pathTo("/app/:org/projects/:project", { org, project: project.id }) }] : []),
		word ? { word: name, href: here } : { word: name },
		...(word ? [{ word }] : []),
	];
}
