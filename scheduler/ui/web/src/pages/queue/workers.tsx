// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content, EmptyState } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { count, counted, shortId } from "../../core/format.ts";
import { type Loaded, useAttempt } from "../../core/hooks.ts";
import { flag, linkOf, linksOf, number, type Resource, text } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

function State({ worker }: { readonly worker: Resource }) {
	const state = stateOf(text(worker, "status"), flag(worker, "draining"), text(worker, "order"));
	return <Mark tone={state.tone}>{state.word}</Mark>;
}

function Runs({ worker }: { readonly worker: Resource }) {
	const runs = linksOf(worker, "runs");
	if (runs.length === 0) {
		return <span class="muted">None</span>;
	}
	return (
		<div class="actions">
			{runs.map((run) => (
				<a key={run.id} class="above-row" href={`/app/runs/${segment(run.id)}`} title={run.id}>
					<code>{shortId(run.id)}</code>
				</a>
			))}
		</div>
	);
}

type Asked = { readonly worker: Resource; readonly action: WorkerAction };

function Actions({ worker, onAction }: { readonly worker: Resource; readonly onAction: (action: WorkerAction) => unknown }) {
	return (
		<div class="cell-actions">
			{actionsOf(text(worker, "status"), text(worker, "order")).map((action) => (
				<Button key={action.key} label={`${action.word} ${text(worker, "name")}`} onPress={() => onAction(action)}>
					{action.word}
				</Button>
			))}
		</div>
	);
}

function columnsOf(poolNames: ReadonlyMap<string, string>, onAction: (asked: Asked) => unknown) {
	const pool = (worker: Resource) => linkOf(worker, "agent-pool")?.id ?? "";
	return [
		{
			key: "name",
			head: "Worker",
			cell: (worker: Resource) => (
				<>
					<strong>{text(worker, "name")}</strong>
					<div class="muted">{text(worker, "ip-address")}</div>
				</>
			),
		},
		{ key: "state", head: "State", cell: (worker: Resource) => <State worker={worker} /> },
		{ key: "pool", head: "Pool", class: "wide", cell: (worker: Resource) => poolNames.get(pool(worker)) ?? pool(worker) },
		{ key: "version", head: "Version", class: "wide", cell: (worker: Resource) => text(worker, "version") },
		{
			key: "slots",
			head: "Busy slots",
			class: "wide number",
			// A draining worker has no free slots, whatever it executes.
			cell: (worker: Resource) => `${count(linksOf(worker, "runs").length)} of ${count(number(worker, "slots") ?? 0)}`,
		},
		{ key: "runs", head: "Runs", class: "wide", cell: (worker: Resource) => <Runs worker={worker} /> },
		{ key: "seen", head: "Last contact", cell: (worker: Resource) => <TimeAgo time={worker.attributes["last-ping-at"]} /> },
		{
			key: "actions",
			head: <span class="sr-only">Actions</span>,
			cell: (worker: Resource) => <Actions worker={worker} onAction={(action) => onAction({ worker, action })} />,
		},
	];
}

type Props = {
	readonly of: Loaded;
	readonly poolNames: ReadonlyMap<string, string>;
	readonly shared?: number; // workers of the shared pool, which are not in the list
};

// The workers, with Drain, Resume and Leave. Leave asks first: the worker's process ends.
export function Workers({ of, poolNames, shared = 0 }: Props) {
	const [asked, setAsked] = useState<Asked | undefined>();
	const { error, attempt } = useAttempt();
	const send = async ({ worker, action }: Asked) => {
		await change("POST", address(`/agents/${segment(worker.id)}/actions/${action.key}`));
		announce(`${text(worker, "name")}: ${action.done}`);
		await of.reload();
	};
	const act = (wanted: Asked) => (wanted.action.asks ? setAsked(wanted) : attempt(() => send(wanted)));
	const running = asked ? linksOf(asked.worker, "runs").length : 0;
	return (
		<section aria-labelledby="workers">
			<h2 id="workers">Workers</h2>
			<Problems of={error} />
			<Content of={of}>
				{() =>
					of.items.length === 0 ? (
						<NoWorker shared={shared} />
					) : (
						<Table caption="Workers" columns={columnsOf(poolNames, act)} rows={of.items} stacked />
					)
				}
			</Content>
			{asked && (
				<Dialog
					title={`Leave: ${text(asked.worker, "name")}`}
					confirm="Leave"
					danger
					onConfirm={() => send(asked)}
					onClose={() => setAsked(undefined)}
				>
					<p>{running > 0 ? `It finishes ${counted(running, "run")}, and then its process ends.` : "Its process ends now."}</p>
					<p>To bring it back, start it on its host.</p>
				</Dialog>
			)}
		</section>
	);
}

function NoWorker({ shared }: { readonly shared: number }) {
	if (shared > 0) {
		return <p class="muted">No workers of its own. The shared pool has {counted(shared, "worker")}.</p>;
	}
	return (
		<EmptyState title="No worker has ever connected">
			<p>Runs wait until a worker connects. Create a token in an agent pool, write it to a file, and start a worker:</p>
			<pre>{`runyard-worker --scheduler-url ${location.origin} --agent-token-file token`}</pre>
		</EmptyState>
	);
}

// The state of a worker as a word, and what can be asked of it.

export type WorkerAction = {
	readonly key: "drain" | "resume" | "leave";
	readonly word: string;
	readonly done: string; // what is said after it
	readonly asks?: boolean; // a dialog comes first
};

const drain: WorkerAction = { key: "drain", word: "Drain", done: "it takes no more runs" };
const resume: WorkerAction = { key: "resume", word: "Resume", done: "it takes runs again" };
const leave: WorkerAction = { key: "leave", word: "Leave", done: "it ends after its runs", asks: true };

const words: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
	idle: ["Idle", "success"],
	busy: ["Busy", "running"],
	unknown: ["Lost contact", "failure"],
	errored: ["Errored", "failure"],
	exited: ["Ended", "muted"],
};

export function stateOf(status: string, draining: boolean, order: string): { readonly word: string; readonly tone: Tone } {
	const [word, tone] = words[status] ?? [status, "muted"];
	if (status === "exited" || tone === "failure") {
		return { word, tone };
	}
	if (order === "leave") {
		return { word: "Leaving", tone: "wait" };
	}
	if (!draining && order !== "drain") {
		return { word, tone };
	}
	return status === "idle" ? { word: "Drained", tone: "muted" } : { word: "Draining", tone: "wait" };
}

export function actionsOf(status: string, order: string): readonly WorkerAction[] {
	if (status === "exited") {
		return [];
	}
	return order === "none" ? [drain, leave] : order === "drain" ? [resume, leave] : [resume];
}
