// SPDX-License-Identifier: MPL-2.0
import { CopyId } from "../../components/copy.tsx";
import { ErrorPanel } from "../../components/error_panel.tsx";
import { TextField } from "../../components/field.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, read } from "../../core/api.ts";
import { momentOf, shortId } from "../../core/format.ts";
import { useDelayed, useQuery, useRead } from "../../core/hooks.ts";
import { timesInUtc } from "../../core/preferences.ts";
import { object, type Resource, text, texts } from "../../core/resource.ts";
import { type PageProps, queryChange } from "../../core/router.ts";
import { eventsOf, pagesOf } from "./audit_events.ts";
import { SettingsFrame } from "./settings_frame.tsx";

export default function AuditTrail({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="audit-trail" intro="Who changed what in the organization, the newest first.">
			{(view) => <Trail path={view.path} />}
		</SettingsFrame>
	);
}

function Who({ event }: { readonly event: Resource }) {
	const auth = object(event, "auth");
	return (
		<>
			{String(auth.description ?? auth.accessor_id ?? "–")}
			{auth.type === "System" && <div class="muted">The scheduler itself</div>}
		</>
	);
}

function What({ event }: { readonly event: Resource }) {
	const meta = object(event, "resource").meta as Record<string, unknown> | undefined;
	const names = Array.isArray(meta?.attributes) ? meta.attributes.join(", ") : "";
	return (
		<>
			{text(event, "what")}
			{names && <div class="muted">{names}</div>}
		</>
	);
}

const columns = [
	{ key: "time", head: "Time", class: "tight", cell: (event: Resource) => <TimeAgo time={event.attributes.timestamp} /> },
	{ key: "who", head: "Who", cell: (event: Resource) => <Who event={event} /> },
	{ key: "what", head: "What", cell: (event: Resource) => <What event={event} /> },
	{
		key: "object",
		head: "Object",
		class: "wide tight",
		cell: (event: Resource) =>
			text(event, "object") ? <CopyId id={text(event, "object")} shown={shortId(text(event, "object"))} /> : null,
	},
];

function matches(event: Resource, search: string): boolean {
	const wanted = search.toLowerCase();
	return texts(event, "words").some((word) => word.toLowerCase().includes(wanted));
}

// Filters of the server, by their names in the page's address.
const filters = [
	{ key: "who", label: "Who", parameter: "filter[actor]" },
	{ key: "action", label: "Action", parameter: "filter[action]" },
	{ key: "kind", label: "Kind of object", parameter: "filter[resource-type]" },
	{ key: "object", label: "Object", parameter: "filter[resource]" },
] as const;

// path: of the organization, or of the site.
export function Trail({ path }: { readonly path: string }) {
	const query = useQuery();
	const since = query.get("since") ?? "";
	const until = query.get("until") ?? "";
	const search = query.get("q") ?? "";
	const chosen = filters.map(({ key }) => query.get(key) ?? "");
	const url = address(`${path}/audit-trail`, {
		"page[number]": query.get("page") ?? undefined,
		"page[size]": 100,
		since: momentOf(since, "00:00:00", timesInUtc()),
		until: momentOf(until, "23:59:59.999", timesInUtc()),
		...Object.fromEntries(filters.map(({ parameter }, i) => [parameter, chosen[i] || undefined])),
	});
	// The trail is not JSON:API: its document has no types.
	const { value: document, error, again } = useRead(url, (signal) => read(url, signal, false));
	const late = useDelayed(!document && !error);
	const rows = eventsOf(document).filter((event) => !search || matches(event, search));
	return (
		<>
			<div class="filters">
				<TextField label="Since" type={"date" as "text"} value={since} onValue={(value) => queryChange({ since: value, page: "" })} />
				<TextField label="Until" type={"date" as "text"} value={until} onValue={(value) => queryChange({ until: value, page: "" })} />
				{filters.map(({ key, label }, i) => (
					<TextField
						key={key}
						label={label}
						type="search"
						value={chosen[i] ?? ""}
						onValue={(value) => queryChange({ [key]: value, page: "" })}
					/>
				))}
				<TextField label="Filter this page" type="search" value={search} onValue={(value) => queryChange({ q: value })} />
			</div>
			{error && <ErrorPanel error={error} onRetry={again} />}
			{late && <Skeleton />}
			{document && rows.length === 0 && (
				<p class="muted">{search || since || until || chosen.some(Boolean) ? "Nothing matches." : "Nothing has been recorded yet."}</p>
			)}
			{rows.length > 0 && <Table caption="Audit trail" columns={columns} rows={rows} stacked />}
			<Pagination pages={pagesOf(document)} />
		</>
	);
}
