// SPDX-License-Identifier: MPL-2.0
// One change request of a workspace, with its whole message.

import { Fact } from "../../components/fact.tsx";
import { Content } from "../../components/states.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { ArchiveButton } from "./archive_button.tsx";

export default function ChangeRequest({ params }: PageProps) {
	return (
		<Frame params={params} page="requests" word="Change request">
			{(view) => <Request view={view} id={params.request ?? ""} />}
		</Frame>
	);
}

function Request({ view, id }: { readonly view: WorkspaceView; readonly id: string }) {
	const found = useDocument(address(`/workspaces/change-requests/${segment(id)}`, { include: "created_by,archived_by_user" }));
	useLive([`workspace:${view.workspace.id}`], () => void found.reload());
	return <Content of={found}>{() => found.item && <Shown view={view} request={found.item} reload={found.reload} />}</Content>;
}

type Props = { readonly view: WorkspaceView; readonly request: Resource; readonly reload: () => Promise<void> };

function Shown({ view, request, reload }: Props) {
	const archived = request.attributes["archived-at"];
	return (
		<article aria-labelledby="change-request">
			<h2 id="change-request" tabIndex={-1}>
				<bdi>{text(request, "subject")}</bdi>
			</h2>
			<dl class="facts">
				<Fact word="Created">
					<When time={request.attributes["created-at"]} by={store.one(request, "created-by")} />
				</Fact>
				<Fact word="Archived">
					{archived ? <When time={archived} by={store.one(request, "archived-by-user")} /> : <span class="muted">No, it is open</span>}
				</Fact>
			</dl>
			<Markdown text={text(request, "message")} below={2} />
			{!archived && (
				<div class="actions">
					<ArchiveButton view={view} request={request} onDone={reload} />
				</div>
			)}
		</article>
	);
}

function When({ time, by }: { readonly time: unknown; readonly by: Resource | undefined }) {
	const name = text(by, "username");
	return (
		<>
			<TimeAgo time={time} />
			{name && (
				<>
					{" "}
					by <strong>{name}</strong>
				</>
			)}
		</>
	);
}
