// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { TimeAgo } from "../../components/time_ago.tsx";
import { WaitText } from "../../components/wait_text.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useInterval } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";

const othersMs = 15_000; // the run may wait for others that the user gets no events of

// Why the run waits, as the scheduler says it.
export function Waiting({ run }: { readonly run: Resource }) {
	const wait = useDocument(address(`/runs/${segment(run.id)}/waiting`));
	useEffect(() => void wait.reload(), [run]); // with each new state of the run
	useInterval(othersMs, wait.reload);
	return wait.item && text(wait.item, "text") ? (
		<p class="note wait waiting">
			<span aria-hidden="true">‖</span>{" "}
			<span role="status">
				<WaitText wait={wait.item} />
			</span>{" "}
			{text(wait.item, "since") && (
				<span class="muted">
					Since <TimeAgo time={wait.item.attributes.since} />
				</span>
			)}
		</p>
	) : null;
}
