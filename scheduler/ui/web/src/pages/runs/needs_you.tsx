// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { announce } from "../../components/live_region.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { useRender } from "../../core/hooks.ts";
import { noticesOn, noticesRefused, noticesSet, noticesSupported } from "../../core/notices.ts";
import { reachedAt } from "../../core/status.ts";
import { needWord, useNeeds } from "./needs.ts";
import { RunTable, runIncludes } from "./run_table.tsx";

function NotifyButton() {
	const render = useRender();
	const on = noticesOn();
	const toggle = async () => {
		const now = await noticesSet(!on);
		announce(
			now ? "This browser notifies you" : on ? "This browser does not notify you any more" : "The browser does not allow notifications",
		);
		render();
	};
	const refused = noticesRefused() ? "the browser refuses notifications of this site" : undefined;
	return noticesSupported() ? (
		<Button reason={refused} onPress={toggle}>
			{on ? "Stop notifying me" : "Notify me here"}
		</Button>
	) : null;
}

// The runs of the organization that wait for a person, and that the user may confirm, override or discard.
export function NeedsYou({ org }: { readonly org: string }) {
	const { list, runs } = useNeeds(org, `${runIncludes},workspace`);
	return (
		<section class="panel needs-you" aria-labelledby="needs-you">
			<div class="page-head">
				<h2 id="needs-you">Needs you{runs.length > 0 && ` (${runs.length})`}</h2>
				<NotifyButton />
			</div>
			{runs.length > 0 ? (
				<RunTable
					caption="Runs that need you"
					org={org}
					runs={runs}
					brief
					more={[
						{ key: "need", head: "You can", class: "wide tight", cell: needWord },
						{
							key: "since",
							head: "Waits since",
							class: "wide tight",
							cell: (run) => <TimeAgo time={reachedAt(run) ?? run.attributes["created-at"]} />,
						},
					]}
				/>
			) : (
				<p class="muted">{list.error && list.asOf === 0 ? list.error.message : list.loading ? "…" : "No run waits for you."}</p>
			)}
		</section>
	);
}
