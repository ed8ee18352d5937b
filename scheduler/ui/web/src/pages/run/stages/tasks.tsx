// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../../components/button.tsx";
import { Problems } from "../../../components/error_panel.tsx";
import { announce } from "../../../components/live_region.tsx";
import { SafeLink } from "../../../components/safe_link.tsx";
import { Chip, Mark } from "../../../components/status_mark.tsx";
import { Elapsed, TimeAgo } from "../../../components/time_ago.tsx";
import { address, change, segment } from "../../../core/api.ts";
import { useAttempt } from "../../../core/hooks.ts";
import { may, number, object, type Resource, text } from "../../../core/resource.ts";
import type { Tone } from "../../../core/status.ts";
import type { RunView } from "../view.ts";
import { Deliveries } from "./deliveries.tsx";
import { Outcomes } from "./outcomes.tsx";
import { isMandatory } from "./stage_list.ts";

const tones: Readonly<Record<string, Tone>> = {
	pending: "muted",
	running: "running",
	passed: "success",
	failed: "failure",
	errored: "failure",
	canceled: "muted",
	unreachable: "muted",
};

function toneOf(result: Resource): Tone {
	const tone = tones[text(result, "status")] ?? "running";
	return tone === "failure" && !isMandatory(result) ? "wait" : tone;
}

function wordOf(result: Resource): string {
	const words: Readonly<Record<string, string>> = { pending: "waiting", unreachable: "not asked", errored: "failed" };
	return words[text(result, "status")] ?? text(result, "status");
}

const isOpen = (result: Resource) => ["pending", "running"].includes(text(result, "status"));

function Redeliver({ view, result }: { readonly view: RunView; readonly result: Resource }) {
	const { error, attempt } = useAttempt();
	const send = async () => {
		await attempt(async () => {
			await change("POST", address(`/task-results/${segment(result.id)}/actions/redeliver`));
			announce("The request is sent again");
		});
		await view.reload();
	};
	return (
		<>
			<Button onPress={send} reason={may(view.run, "can-apply") ? undefined : "you may not apply runs of this workspace"}>
				Redeliver
			</Button>
			<Problems of={error} />
		</>
	);
}

function TaskResult({ view, result }: { readonly view: RunView; readonly result: Resource }) {
	const times = object(result, "status-timestamps");
	const ended = ["passed-at", "failed-at", "errored-at", "canceled-at"].map((name) => times[name]).find(Boolean);
	const tone = toneOf(result);
	const failed = tone === "failure" || tone === "wait";
	const called = times["running-at"] !== undefined;
	const notDelivered = text(result, "delivery-error");
	return (
		<li class="task">
			<div class="task-line">
				<Mark tone={tone} icon={tone === "wait" ? "!" : undefined}>
					{wordOf(result)}
				</Mark>
				<strong>{text(result, "task-name")}</strong>
				<Chip>{text(result, "workspace-task-enforcement-level")}</Chip>
				{called && (
					<span class="muted">
						<TimeAgo time={times["running-at"]} /> · <Elapsed since={times["running-at"]} until={ended} />
					</span>
				)}
				<SafeLink href={text(result, "url")}>Details</SafeLink>
			</div>
			{(text(result, "message") || failed) && (
				<p class={`as-written ${tone === "failure" ? "failure" : ""}`} data-problem={tone === "failure" || undefined} tabIndex={-1}>
					{text(result, "message") || "The task has said no reason."}
				</p>
			)}
			{notDelivered && <p class="as-written">Not delivered yet: {notDelivered}. The request is sent again.</p>}
			{tone === "wait" && <p class="muted">The task is advisory: the run goes on.</p>}
			{(number(result, "task-result-outcomes-count") ?? 0) > 0 && <Outcomes result={result} open={failed || view.reader} />}
			{(called || notDelivered) && !view.reader && <Deliveries result={result} run={view.run.id} />}
			{isOpen(result) && called && !view.reader && <Redeliver view={view} result={result} />}
		</li>
	);
}

export function TaskResults({ view, results }: { readonly view: RunView; readonly results: readonly Resource[] }) {
	const order = (result: Resource) => ["failure", "wait", "running", "muted", "success"].indexOf(toneOf(result));
	return (
		<ul class="plain-list">
			{[...results]
				.sort((a, b) => order(a) - order(b))
				.map((result) => (
					<TaskResult key={result.id} view={view} result={result} />
				))}
		</ul>
	);
}
