// SPDX-License-Identifier: MPL-2.0
// A query run: its state, the resources that it has found, and its log.

import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { Fold } from "../../components/fold.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { count, counted } from "../../core/format.ts";
import { useAttempt, useDocument, useLive } from "../../core/hooks.ts";
import { can, may, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Log } from "../../log/log.tsx";
import { Diagnostics } from "../run/events/diagnostics.tsx";
import type { Found } from "../run/events/log_events.ts";
import { useLogEvents } from "../run/events/use_log_events.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { creatorOf, QueryMark } from "./queries.tsx";
import { queryHasEnded, sourceWord } from "./query_words.ts";

export default function Query({ params }: PageProps) {
	return (
		<Frame params={params} page="queries" word="Query">
			{(view) => <OneQuery key={params.query} view={view} id={params.query ?? ""} />}
		</Frame>
	);
}

function OneQuery({ view, id }: { readonly view: WorkspaceView; readonly id: string }) {
	const document = useDocument(address(`/queries/${segment(id)}`, { include: "created_by,canceled_by,plan" }));
	useLive([`workspace:${view.workspace.id}`], () => void document.reload());
	return (
		<Content of={document}>
			{() =>
				document.item && (
					<>
						<Facts query={document.item} />
						<Actions view={view} query={document.item} />
						<Results query={document.item} reload={document.reload} />
					</>
				)
			}
		</Content>
	);
}

function Facts({ query }: { readonly query: Resource }) {
	const canceledBy = text(store.one(query, "canceled-by"), "username");
	return (
		<dl class="facts">
			<Fact word="Status">
				<span role="status">
					<QueryMark query={query} />
				</span>
			</Fact>
			<Fact word="Created">
				<TimeAgo time={query.attributes["created-at"]} />
				{creatorOf(query) && ` by ${creatorOf(query)}`}
			</Fact>
			{canceledBy && <Fact word="Canceled by">{canceledBy}</Fact>}
			<Fact word="From">{sourceWord(text(query, "source"))}</Fact>
			<Fact word="Terraform">{text(query, "terraform-version") || "latest"}</Fact>
			<Fact word="ID">
				<code>{query.id}</code>
			</Fact>
		</dl>
	);
}

function Actions({ view, query }: { readonly view: WorkspaceView; readonly query: Resource }) {
	const { error, attempt } = useAttempt();
	const force = can(query, "is-force-cancelable");
	if (!force && !can(query, "is-cancelable")) {
		return null;
	}
	const allowed = may(view.workspace, force ? "can-update" : "can-queue-run");
	const send = () =>
		attempt(async () => {
			await change("POST", address(`/queries/${segment(query.id)}/actions/${force ? "force-cancel" : "cancel"}`));
			announce("The query is asked to stop");
		});
	return (
		<>
			<Problems of={error} />
			<p class="actions">
				<Button onPress={send} reason={allowed ? undefined : `you need ${force ? "admin" : "plan"} access to this workspace`}>
					{force ? "Force Cancel" : "Cancel"}
				</Button>
			</p>
		</>
	);
}

const columns: readonly Column<Found>[] = [
	{ key: "type", head: "Type", cell: (found) => <code>{found.type}</code> },
	{ key: "name", head: "Name", cell: (found) => <bdi>{found.name}</bdi> },
	{ key: "identity", head: "Identity", cell: (found) => <bdi>{found.identity}</bdi> },
	{ key: "list", head: "List", class: "wide", cell: (found) => <code>{found.address}</code> },
];

function Results({ query, reload }: { readonly query: Resource; readonly reload: () => Promise<void> }) {
	const plan = store.one(query, "plan");
	const { progress, complete, cut } = useLogEvents(plan, reload);
	const found = progress.queried;
	const error = text(query, "error");
	const generated = found.filter((row) => row.config !== "");
	return (
		<>
			{error && <p class="note problem failure as-written">{error}</p>}
			<Diagnostics list={progress.diagnostics} reveal={text(query, "status") === "errored"} />
			<section aria-labelledby="results">
				<h2 id="results">{queryHasEnded(query) && complete ? counted(progress.queriedCount, "resource") : "Results"}</h2>
				{found.length > 0 ? (
					<PlainTable caption="Resources" class="rows stack" columns={columns} rows={found} keyOf={(_, at) => String(at)} />
				) : (
					<p class="muted">{queryHasEnded(query) && complete ? "The query has found no resource." : "Nothing yet."}</p>
				)}
				{(cut || progress.queriedCount > found.length) && (
					<p class="note">The first {count(found.length)} resources are shown. The log has all of them.</p>
				)}
				{generated.length > 0 && (
					<Fold summary="Generated configuration" open={false}>
						{() => (
							// biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys
							<pre class="snippet" tabIndex={0}>
								{generated.map((row) => row.config).join("\n\n")}
							</pre>
						)}
					</Fold>
				)}
			</section>
			{plan && (
				<Fold class="inner" summary="Log" open={!queryHasEnded(query)}>
					{() => <Log operation={plan} kind="plan" reload={reload} />}
				</Fold>
			)}
		</>
	);
}
