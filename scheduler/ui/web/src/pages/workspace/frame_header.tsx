// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Mark, runTone, runWord, StatusMark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { partLoad } from "../../core/part.ts";
import { linkOf, may, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { isFinal, statusIcon } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "./frame.tsx";
import { type FramePage, framePath, frameWords, lockOf, queueReason } from "./frame_links.ts";
import type { QueueOrder } from "./queue_order.ts";
import type { QueuePlanProps } from "./queue_plan.tsx";

type HeaderProps = { readonly view: WorkspaceView; readonly page: FramePage; readonly word: string };

export function FrameHeader({ view, page, word }: HeaderProps) {
	return (
		<header class="frame">
			<div class="frame-name">
				<h1 tabIndex={-1}>
					{view.name}
					{page !== "overview" && <span class="sr-only"> ({word})</span>}
				</h1>
				<CurrentRun view={view} />
				<LockMark view={view} />
			</div>
			<QueueButton view={view} kind="primary" id="queue-plan">
				Queue Plan
			</QueueButton>
			<FrameNav view={view} page={page} />
		</header>
	);
}

// The frame's links and Queue Plan on a page that has a header of its own.
export function FrameBar({ view, page }: Omit<HeaderProps, "word">) {
	return (
		<div class="frame bare">
			<FrameNav view={view} page={page} />
			<QueueButton view={view} id="queue-plan">
				Queue Plan
			</QueueButton>
		</div>
	);
}

function runPath(view: WorkspaceView, run: string): string {
	return pathTo("/app/:org/workspaces/:ws/runs/:run", { org: view.org, ws: view.name, run });
}

function CurrentRun({ view }: { readonly view: WorkspaceView }) {
	const { run } = view;
	if (!run || isFinal(text(run, "status"))) {
		return null;
	}
	return (
		<a class="chip current-run" href={runPath(view, run.id)}>
			<StatusMark run={run} isLive /> <TimeAgo time={run.attributes["created-at"]} />
		</a>
	);
}

// The lock with its owner and reason. It leads to the page with the actions on locks.
export function LockMark({ view }: { readonly view: WorkspaceView }) {
	const lock = lockOf(view.workspace, store.get(linkOf(view.workspace, "locked-by")));
	if (!lock) {
		return null;
	}
	const reason = lock.reason && `: ${lock.reason}`;
	return (
		<a
			class="chip lock"
			href={pathTo("/app/:org/workspaces/:ws/settings/locking", { org: view.org, ws: view.name })}
			title={lock.word + reason}
		>
			<Mark tone="wait" icon="⊠">
				{lock.word}
				<bdi>{reason}</bdi>
			</Mark>
		</a>
	);
}

type QueueButtonProps = {
	readonly view: WorkspaceView;
	readonly kind?: "plain" | "primary"; // plain on a page whose own action is more important
	readonly id?: string;
	readonly order?: Partial<QueueOrder>; // what the dialog asks for at first
	readonly children: ComponentChildren;
};

// A button that opens the dialog Queue Plan.
export function QueueButton({ view, kind = "plain", id, order, children }: QueueButtonProps) {
	const [Shown, setShown] = useState<ComponentType<QueuePlanProps> | undefined>();
	const open = async () => {
		const { QueuePlan } = await partLoad(() => import("./queue_plan.tsx"));
		setShown(() => QueuePlan);
	};
	return (
		<>
			<Button kind={kind} {...(id && { id })} reason={queueReason(view.workspace, may(view.workspace, "can-queue-run"))} onPress={open}>
				{children}
			</Button>
			{Shown && <Shown view={view} {...(order && { order })} onClose={() => setShown(undefined)} />}
		</>
	);
}

// The most recently completed run that is not plan-only. It is read again after the current run has changed.
function useLatestRun(view: WorkspaceView): { run: Resource | undefined; known: boolean } {
	const { workspace, run } = view;
	const latest = useDocument(
		may(workspace, "can-read-run")
			? address(`/workspaces/${segment(workspace.id)}/runs`, { "filter[status_group]": "final", "page[size]": 1 })
			: undefined,
	);
	const change = `${run?.id} ${text(run, "status")}`;
	useEffect(() => {
		if (latest.asOf > 0) {
			void latest.reload();
		}
	}, [change]);
	return { run: latest.items[0], known: latest.asOf > 0 };
}

function LatestRun({ view }: { readonly view: WorkspaceView }) {
	const { run, known } = useLatestRun(view);
	if (!run) {
		return (
			<span class="muted" title={known ? "No run has ended yet" : undefined}>
				Latest Run{known && <span class="sr-only"> (none has ended yet)</span>}
			</span>
		);
	}
	const tone = runTone(run);
	return (
		<a href={runPath(view, run.id)} title={runWord(run)}>
			Latest Run <span class="sr-only">({runWord(run)})</span>{" "}
			<span class={`mark ${tone}`} aria-hidden="true">
				{statusIcon(text(run, "status"), tone)}
			</span>
		</a>
	);
}

// The number of open change requests. It is read again after one was made or archived, and with the page otherwise.
function OpenRequests({ view }: { readonly view: WorkspaceView }) {
	const { workspace } = view;
	const open = useDocument(
		may(workspace, "can-read-run")
			? address(`/workspaces/${segment(workspace.id)}/change-requests`, { "filter[archived]": "false", "page[size]": 1 })
			: undefined,
	);
	useLive([`workspace:${workspace.id}`], ({ attributes }) => {
		if (attributes?.changed === "workspace_change_request") {
			void open.reload();
		}
	});
	const total = open.pages?.["total-count"] ?? 0;
	return total > 0 ? (
		<>
			{" "}
			<span class="count">{count(total)}</span>
			<span class="sr-only"> open</span>
		</>
	) : null;
}

const frameOrder: readonly (FramePage | "latest")[] = [
	"overview",
	"runs",
	"latest",
	"states",
	"variables",
	"health",
	"requests",
	"queries",
	"settings",
];

function FrameNav({ view, page }: { readonly view: WorkspaceView; readonly page: FramePage }) {
	return (
		<nav class="frame-nav" aria-label="Workspace">
			{frameOrder.map((item) =>
				item === "latest" ? (
					<LatestRun key={item} view={view} />
				) : (
					<a key={item} href={framePath(item, view.org, view.name)} aria-current={item === page ? "page" : undefined}>
						{frameWords[item]}
						{item === "requests" && <OpenRequests view={view} />}
					</a>
				),
			)}
		</nav>
	);
}
