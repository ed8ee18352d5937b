// SPDX-License-Identifier: MPL-2.0
// The audit trail's document, whose events have no JSON:API type, as rows of a table.

import type { PageNumbers, Resource } from "../../core/resource.ts";

type Event = {
	readonly id: string;
	readonly timestamp: string;
	readonly auth?: { readonly description?: string | null };
	readonly resource?: { readonly id?: string | null; readonly type?: string; readonly action?: string };
};

// whatOf: "run: apply", in words of the API.
function whatOf(event: Event): string {
	return [event.resource?.type ?? "", event.resource?.action ?? ""].filter(Boolean).join(": ").replaceAll("_", " ");
}

export function eventsOf(document: unknown): readonly Resource[] {
	const data = (document as { data?: unknown } | undefined)?.data;
	return (Array.isArray(data) ? (data as Event[]) : []).map((event) => {
		const what = whatOf(event);
		const about = event.resource?.id ?? "";
		const words = [what, about, event.auth?.description ?? ""];
		return { type: "audit-events", id: event.id, attributes: { ...event, what, object: about, words } };
	});
}

export function pagesOf(document: unknown): PageNumbers | undefined {
	const pages = (document as { pagination?: Record<string, number | null> } | undefined)?.pagination;
	return (
		pages && {
			"current-page": pages.current_page ?? 1,
			"page-size": 100,
			"prev-page": pages.prev_page ?? null,
			"next-page": pages.next_page ?? null,
			"total-pages": pages.total_pages ?? 1,
		}
	);
}
