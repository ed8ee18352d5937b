// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { count, counted, size } from "../../core/format.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { linkOf, number, type Resource } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { detachedReason } from "./state_words.ts";

// States that arrived too late to become the current one. They may know of resources that no other state has.
export function DetachedStates({ view }: { readonly view: WorkspaceView }) {
	const states = useDocument(
		address("/state-versions", {
			"filter[organization][name]": view.org,
			"filter[workspace][name]": view.name,
			"filter[status]": "detached",
			"page[size]": 50,
		}),
	);
	useLive([`workspace:${view.workspace.id}`], () => void states.reload());
	if (states.items.length === 0) {
		return null;
	}
	return (
		<section class="note wait" aria-labelledby="detached">
			<h2 id="detached">{counted(states.items.length, "detached state")}</h2>
			<p>They arrived too late to become the current state. They may have resources that the current state does not have.</p>
			<ul>
				{states.items.map((state) => (
					<li key={state.id}>
						<DetachedState view={view} state={state} />
					</li>
				))}
			</ul>
		</section>
	);
}

export function DetachedReason({ state }: { readonly state: Resource }) {
	const run = linkOf(state, "run")?.id;
	const events = useDocument(run ? address(`/runs/${segment(run)}/run-events`) : undefined);
	return <>{detachedReason(state, events.items)}</>;
}

function DetachedState({ view, state }: { readonly view: WorkspaceView; readonly state: Resource }) {
	const href = pathTo("/app/:org/workspaces/:ws/states/:state", { org: view.org, ws: view.name, state: state.id });
	return (
		<>
			<a href={href}>Serial {count(number(state, "serial") ?? 0)}</a>, {size(number(state, "size") ?? 0)},{" "}
			<TimeAgo time={state.attributes["created-at"]} />. <DetachedReason state={state} />
		</>
	);
}
