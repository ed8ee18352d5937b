// SPDX-License-Identifier: MPL-2.0

import type { Resource } from "../../core/resource.ts";
import { Ref } from "../../vcs/commit_line.tsx";
import { eventOf } from "./event_words.ts";

// "Push to main", "Tag v1", "Pull request #3 opened", as plain text with the names isolated.
export function EventTitle({ event }: { readonly event: Resource }) {
	const { what, kind, ref } = eventOf(event);
	if (!ref) {
		return <>{what}</>;
	}
	const plain = <bdi>{ref.name}</bdi>;
	return ref.kind === "pull request" ? (
		<>
			Pull request {plain} {what.replace("Pull request ", "")}
		</>
	) : (
		<>
			{what} {kind === "push" && "to "}
			{plain}
		</>
	);
}

// The pull request of the event, with a link to the provider.
export function EventRef({ event }: { readonly event: Resource }) {
	const { ref } = eventOf(event);
	return ref ? <Ref of={ref} /> : null;
}
