// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { preference, preferenceSet } from "../../core/preferences.ts";
import { object, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { statusRow } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { needsMe, needWord } from "./needs.ts";
import { operations, personStatuses } from "./query.ts";
import { RunTable, runIncludes } from "./run_table.tsx";

function sinceOf(run: Resource): unknown {
	return object(run, "status-timestamps")[statusRow(text(run, "status"))?.timestamp ?? ""] ?? run.attributes["created-at"];
}

// Notifies about runs that came after the page was opened, while it is in the background.
function useNotifications(org: string, runs: readonly Resource[], on: boolean, ready: boolean): void {
	const known = useRef<Set<string> | undefined>(undefined);
	useEffect(() => {
		if (!ready) {
			return;
		}
		const before = known.current;
		known.current = new Set(runs.map((run) => run.id));
		if (!on || !before || document.visibilityState === "visible") {
			return;
		}
		for (const run of runs.filter((candidate) => !before.has(candidate.id))) {
			const ws = text(store.one(run, "workspace"), "name");
			const notice = new Notification(`${ws} needs you`, { body: text(run, "message"), tag: run.id });
			notice.onclick = () => {
				focus();
				location.assign(pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws, run: run.id }));
			};
		}
	});
}

function NotifyButton({ on, onChange }: { readonly on: boolean; readonly onChange: (on: boolean) => void }) {
	const supported = typeof Notification !== "undefined";
	const refused = supported && Notification.permission === "denied" ? "the browser refuses notifications of this site" : undefined;
	const toggle = async () => {
		const next = !on && (await Notification.requestPermission()) === "granted";
		preferenceSet("notify", next ? "on" : "off");
		onChange(next);
	};
	return supported ? (
		<Button reason={refused} onPress={toggle}>
			{on ? "Stop notifying me" : "Notify me here"}
		</Button>
	) : null;
}

// The runs of the organization that wait for a person, and that the user may confirm, override or discard.
export function NeedsYou({ org }: { readonly org: string }) {
	const [notify, setNotify] = useState(preference("notify", "off") === "on");
	const list = useDocument(
		address(`/organizations/${segment(org)}/runs`, {
			"filter[status]": personStatuses,
			"filter[operation]": operations.map(([name]) => name).join(","),
			"page[size]": 50,
			include: `${runIncludes},workspace`,
		}),
	);
	const runs = list.items.filter(needsMe);
	useLive([`org:${org}`], () => void list.reload());
	useNotifications(org, runs, notify, list.asOf > 0);
	return (
		<section class="panel needs-you" aria-labelledby="needs-you">
			<div class="page-head">
				<h2 id="needs-you">Needs you{runs.length > 0 && ` (${runs.length})`}</h2>
				<NotifyButton on={notify} onChange={setNotify} />
			</div>
			{runs.length > 0 ? (
				<RunTable
					caption="Runs that need you"
					org={org}
					runs={runs}
					brief
					more={[
						{ key: "need", head: "You can", class: "wide tight", cell: needWord },
						{ key: "since", head: "Waits since", class: "wide tight", cell: (run) => <TimeAgo time={sinceOf(run)} /> },
					]}
				/>
			) : (
				<p class="muted">{list.error && list.asOf === 0 ? list.error.message : list.loading ? "…" : "No run waits for you."}</p>
			)}
		</section>
	);
}
