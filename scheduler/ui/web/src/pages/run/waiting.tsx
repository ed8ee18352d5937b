// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { number, type Resource, text } from "../../core/resource.ts";

// Why the run waits, as the scheduler says it.
export function Waiting({ run }: { readonly run: Resource }) {
	const wait = useDocument(address(`/runs/${segment(run.id)}/waiting`));
	useEffect(() => void wait.reload(), [run]); // with each new state of the run
	const reason = text(wait.item, "reason");
	const position = number(wait.item, "position");
	if (!reason || reason === "none") {
		return null;
	}
	return (
		<p class="note wait waiting" role="status">
			<span aria-hidden="true">‖</span> {text(wait.item, "description")}
			{position !== undefined && ` Position ${position}.`} <TimeAgo time={wait.item?.attributes.since} />
		</p>
	);
}
