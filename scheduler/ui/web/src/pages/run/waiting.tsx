// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { number, type Resource, text } from "../../core/resource.ts";
import { partsWithRuns } from "./waiting_text.ts";

// Why the run waits, as the scheduler says it.
export function Waiting({ run }: { readonly run: Resource }) {
	const wait = useDocument(address(`/runs/${segment(run.id)}/waiting`));
	useEffect(() => void wait.reload(), [run]); // with each new state of the run
	const reason = text(wait.item, "reason");
	const position = number(wait.item, "position");
	const description = text(wait.item, "description");
	if (!reason || reason === "none") {
		return null;
	}
	return (
		<p class="note wait waiting">
			<span aria-hidden="true">‖</span>{" "}
			<span role="status">
				{partsWithRuns(description).map((part) => (part.run ? <a href={`/app/runs/${part.run}`}>{part.text}</a> : part.text))}
				{position !== undefined && !description.includes("position") && ` Position ${position}.`}
			</span>{" "}
			{wait.item?.attributes.since && (
				<span class="muted">
					Since <TimeAgo time={wait.item.attributes.since} />
				</span>
			)}
		</p>
	);
}
