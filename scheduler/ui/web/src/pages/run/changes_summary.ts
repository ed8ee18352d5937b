// SPDX-License-Identifier: MPL-2.0
// The list of changes of a run's plan.

import { useEffect, useState } from "preact/hooks";
import { address, read, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { flag, type Resource, text } from "../../core/resource.ts";

export type Changes = { readonly item: Resource | undefined; readonly error: ApiError | undefined; readonly loading: boolean };

const againMs = 3000;
const maxTries = 20;
const nothing: Changes = { item: undefined, error: undefined, loading: false };

// useChanges keeps the answer of its own: the store's object may be that of a search in the list, which has fewer rows.
export function useChanges(plan: Resource | undefined): Changes {
	const there = text(plan, "status") === "finished" && flag(plan, "has-changes");
	const url = plan && there ? address(`/plans/${segment(plan.id)}/changes`) : undefined;
	const [changes, setChanges] = useState(nothing);
	useEffect(() => {
		if (url === undefined) {
			return;
		}
		const abort = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		let tries = 0;
		const load = async () => {
			setChanges({ ...nothing, loading: true });
			try {
				const { data } = await read(url, abort.signal);
				tries += 1;
				setChanges({ ...nothing, item: (data as Resource | null) ?? undefined });
				timer = data || tries >= maxTries ? undefined : setTimeout(load, againMs); // the plan's JSON is not there yet
			} catch (failure) {
				if (!abort.signal.aborted) {
					setChanges({ ...nothing, error: errorOf(failure) });
				}
			}
		};
		void load();
		return () => {
			abort.abort();
			clearTimeout(timer);
		};
	}, [url]);
	return changes;
}
