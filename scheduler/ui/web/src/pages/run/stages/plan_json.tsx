// SPDX-License-Identifier: MPL-2.0
import { useMemo } from "preact/hooks";
import { Content } from "../../../components/states.tsx";
import { address, segment } from "../../../core/api.ts";
import { count } from "../../../core/format.ts";
import { useDocument } from "../../../core/hooks.ts";
import { may, type Resource } from "../../../core/resource.ts";
import type { RunView } from "../view.ts";

const shownLines = 2000;

function Json({ item }: { readonly item: Resource | undefined }) {
	const lines = useMemo(() => (item ? JSON.stringify(item.attributes, null, 2).split("\n") : []), [item]);
	if (!item) {
		return <p class="muted">The plan has no list of its changes.</p>;
	}
	return (
		<>
			{lines.length > shownLines && (
				<p class="muted">
					Showing the first {count(shownLines)} of {count(lines.length)} lines. The download has all.
				</p>
			)}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys */}
			<section class="plan-json" tabIndex={0} aria-label="Changes as JSON">
				<pre>{lines.slice(0, shownLines).join("\n")}</pre>
			</section>
		</>
	);
}

// The list of changes as the API has it, which has no values, and downloads of the plan.
export function PlanJson({ view, plan }: { readonly view: RunView; readonly plan: Resource }) {
	const base = `/plans/${segment(plan.id)}`;
	const changes = useDocument(address(`${base}/changes`));
	return (
		<>
			<ul>
				<li>
					<a href={address(`${base}/changes`)} download={`${plan.id}-changes.json`}>
						Download these changes
					</a>
				</li>
				<li>
					<a href={address(`${base}/json-output-redacted`)} download={`${plan.id}-redacted.json`}>
						Download the plan without sensitive values
					</a>
				</li>
				<li>
					{may(view.run, "can-read-plan-json") ? (
						<>
							<a href={address(`${base}/json-output`)} download={`${plan.id}.json`}>
								Download the whole plan
							</a>
							, with sensitive values
						</>
					) : (
						<span class="muted">The whole plan has sensitive values: you need admin access to this workspace to download it.</span>
					)}
				</li>
			</ul>
			<Content of={changes}>{() => <Json item={changes.item} />}</Content>
		</>
	);
}
