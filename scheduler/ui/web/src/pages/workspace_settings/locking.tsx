// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Fact } from "../../components/fact.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { linkOf } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { session } from "../../core/session.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { LockDialog, lockWords } from "./lock_dialog.tsx";
import { type Hold, type LockAction, type LockState, lockActions, lockState } from "./lock_state.ts";
import { SettingsFrame } from "./settings_frame.tsx";

export default function Locking({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="locking">
			{(view) => <LockPanel view={view} />}
		</SettingsFrame>
	);
}

function LockPanel({ view }: { readonly view: WorkspaceView }) {
	const [asked, setAsked] = useState<LockAction | undefined>();
	const state = lockState(view.workspace, store.get(linkOf(view.workspace, "locked-by")), session().userId);
	return (
		<>
			<LockFacts state={state} view={view} />
			<div class="actions">
				{lockActions(state, view.workspace).map(({ action, reason }) => (
					<Button key={action} kind={action === "force-unlock" ? "danger" : "primary"} reason={reason} onPress={() => setAsked(action)}>
						{lockWords[action]}
					</Button>
				))}
			</div>
			<h3>{state.kind === "held" ? "While the workspace is held" : "While a person holds the lock"}</h3>
			<ul>
				<li>Runs that can apply wait as pending. They start in their order after the unlock.</li>
				<li>Plan-only runs go on.</li>
				{state.kind !== "held" && <li>Only the person who holds the lock can write a state.</li>}
			</ul>
			{asked && <LockDialog view={view} state={state} action={asked} onClose={() => setAsked(undefined)} />}
		</>
	);
}

function RunLink({ view, run }: { readonly view: WorkspaceView; readonly run: string }) {
	return <a href={pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run })}>{run}</a>;
}

function LockFacts({ state, view }: { readonly state: LockState; readonly view: WorkspaceView }) {
	if (state.kind === "held") {
		return <HoldFacts hold={state.hold} view={view} />;
	}
	if (state.kind === "run") {
		return (
			<p>
				<Mark tone="running">In use</Mark> by <RunLink view={view} run={state.run} />. The workspace is free again when the run ends.
			</p>
		);
	}
	if (state.kind === "free") {
		return (
			<p>
				<Mark tone="success">Unlocked</Mark>. Runs start as soon as they are queued.
			</p>
		);
	}
	return (
		<dl class="facts">
			<Fact word="State">
				<Mark tone="wait" icon="⊠">
					Locked
				</Mark>
			</Fact>
			<Fact word="By">
				{state.who}
				{state.mine && " (you)"}
			</Fact>
			<Fact word="Since">
				<TimeAgo time={state.since} />
			</Fact>
			<Fact word="Reason">{state.reason || <span class="muted">None given</span>}</Fact>
		</dl>
	);
}

function terraformWord(hold: Hold): string {
	if (hold.settled) {
		return "It has ended. It created resources that no state shows.";
	}
	return hold.engineEnded
		? "It has ended. Its last state is missing."
		: "It may still run on that worker, and its last state may still come.";
}

function HoldFacts({ hold, view }: { readonly hold: Hold; readonly view: WorkspaceView }) {
	return (
		<>
			<dl class="facts">
				<Fact word="State">
					<Mark tone="wait" icon="⊠">
						Held after a lost apply
					</Mark>
				</Fact>
				<Fact word="Run">
					<RunLink view={view} run={hold.run} />
				</Fact>
				<Fact word="Worker">{hold.worker}</Fact>
				<Fact word="Since">
					<TimeAgo time={hold.since} />
				</Fact>
				<Fact word="Terraform">{terraformWord(hold)}</Fact>
				<Fact word="Ends">
					{hold.settled ? (
						"when the resources are dismissed, or by Force-unlock"
					) : hold.until ? (
						<>
							when the state arrives, or <TimeAgo time={hold.until} />
						</>
					) : (
						"when the state arrives, or by Force-unlock"
					)}
				</Fact>
			</dl>
			<p>
				<a href={`/app/workspaces/${encodeURIComponent(view.workspace.id)}/hold`}>Stop the lost terraform</a>,{" "}
				<a href={`/app/runs/${encodeURIComponent(hold.run)}/unrecorded-resources`}>resources that no state shows</a>
			</p>
		</>
	);
}
