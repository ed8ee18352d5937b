// SPDX-License-Identifier: MPL-2.0
import { DialogButton } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { Content } from "../../components/states.tsx";
import { Chip } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count, size } from "../../core/format.ts";
import { missingUnless, useDocument } from "../../core/hooks.ts";
import { linkOf, may, number, type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { Compare } from "./compare.tsx";
import { DetachedReason } from "./detached.tsx";
import { Outputs } from "./outputs.tsx";
import { RollbackDialog } from "./rollback.tsx";
import { authorOf } from "./state_words.ts";
import { RunCell } from "./states.tsx";

export default function State({ params }: PageProps) {
	return (
		<Frame params={params} page="states" word="State">
			{(view) => <StateView view={view} id={params.state ?? ""} />}
		</Frame>
	);
}

function StateView({ view, id }: { readonly view: WorkspaceView; readonly id: string }) {
	const found = useDocument(address(`/state-versions/${segment(id)}`, { include: "run,run.created_by,created_by" }));
	const document = missingUnless(!found.item || linkOf(found.item, "workspace")?.id === view.workspace.id, found);
	const all = pathTo("/app/:org/workspaces/:ws/states", { org: view.org, ws: view.name });
	return (
		<Content of={document}>
			{() => {
				const state = document.item;
				return state ? (
					<>
						<p>
							<a href={all}>All states</a>
						</p>
						<h2>Serial {count(number(state, "serial") ?? 0)}</h2>
						<Facts view={view} state={state} />
						<Actions view={view} state={state} />
						<Compare view={view} state={state} />
						<Outputs state={state} />
					</>
				) : null;
			}}
		</Content>
	);
}

function Facts({ view, state }: { readonly view: WorkspaceView; readonly state: Resource }) {
	const isCurrent = linkOf(view.workspace, "current-state-version")?.id === state.id;
	return (
		<dl class="facts">
			<Fact word="State">
				<CopyId id={state.id} /> {isCurrent && <Chip tone="success">Current</Chip>}
			</Fact>
			{text(state, "status") === "detached" && (
				<Fact word="Detached">
					It could not become the current state. <DetachedReason state={state} />
				</Fact>
			)}
			<Fact word="Created">
				<TimeAgo time={state.attributes["created-at"]} />
				{authorOf(state) && ` by ${authorOf(state)}`}
			</Fact>
			<Fact word="Run">
				<RunCell view={view} state={state} />
			</Fact>
			<Fact word="Size">{size(number(state, "size") ?? 0)}</Fact>
			<Fact word="Terraform">{text(state, "terraform-version") || <span class="muted">Not known</span>}</Fact>
			<Fact word="Lineage">
				<code>{text(state, "lineage")}</code>
			</Fact>
		</dl>
	);
}

function rollbackReason(view: WorkspaceView, state: Resource): string | undefined {
	if (linkOf(view.workspace, "current-state-version")?.id === state.id) {
		return "it is the current state";
	}
	if (text(state, "status") !== "finalized") {
		return "it is not a regular version of the state";
	}
	const isAllowed = may(view.workspace, "can-create-state-versions") && may(view.workspace, "can-lock");
	return isAllowed ? undefined : "you need write access to the states of this workspace, and its lock permission";
}

function Actions({ view, state }: { readonly view: WorkspaceView; readonly state: Resource }) {
	const base = `/state-versions/${segment(state.id)}`;
	const name = `${view.name}-${number(state, "serial")}`;
	return (
		<div class="actions">
			{text(state, "hosted-state-download-url") && (
				<a class="button plain" href={address(`${base}/download`)} download={`${name}.tfstate`}>
					Download
				</a>
			)}
			{text(state, "hosted-json-state-download-url") && (
				<a class="button plain" href={address(`${base}/json-download`)} download={`${name}.json`}>
					Download as JSON
				</a>
			)}
			<DialogButton reason={rollbackReason(view, state)} dialog={(close) => <RollbackDialog view={view} state={state} onClose={close} />}>
				Roll back to this state
			</DialogButton>
		</div>
	);
}
