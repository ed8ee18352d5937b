// SPDX-License-Identifier: MPL-2.0
import { DialogButton } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SaidNote } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { Fold } from "../../components/fold.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { counted, shortId } from "../../core/format.ts";
import { useDocument, useInterval, useLive } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { shortSha } from "../../vcs/commit.ts";
import { Sha } from "../../vcs/commit_line.tsx";
import { Outcomes } from "./event_outcomes.tsx";
import { useCommitRuns } from "./event_runs.ts";
import { EventRef, EventTitle } from "./event_title.tsx";
import { eventOf, filesOf, foundWord, needsApproval, outcomesOf, stateOf } from "./event_words.ts";

const othersMs = 15_000; // the user may get no events of a workspace's runs

// An event of a repository: commit statuses of providers link here.
export default function EventPage({ params }: PageProps) {
	const { org = "", event: id = "" } = params;
	const document = useDocument(address(`/vcs-events/${segment(id)}`));
	const event = document.item;
	useCommitRuns(org, event ? eventOf(event).sha : "", event ? outcomesOf(event).filter(({ run }) => run).length : 0, document.asOf);
	useLive([`org:${org}`], () => void document.reload());
	useInterval(othersMs, () => document.reload());
	useTitle([event ? eventOf(event).what : "VCS event", org]);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "VCS events", href: pathTo("/app/:org/vcs/events", { org }) },
					{ word: shortId(id) },
				]}
			/>
			<Content of={document}>{() => event && <EventView org={org} event={event} reload={document.reload} />}</Content>
		</>
	);
}

type ViewProps = { readonly org: string; readonly event: Resource; readonly reload: () => Promise<void> };

function EventView({ org, event, reload }: ViewProps) {
	const [tone, word] = stateOf(event);
	const { message, level } = eventOf(event);
	return (
		<>
			<h1 tabIndex={-1}>
				<EventTitle event={event} />
			</h1>
			<p>
				<span role="status">
					<Mark tone={tone}>{word}</Mark>
				</span>{" "}
				<TimeAgo time={event.attributes["created-at"]} />, found {foundWord(text(event, "found-by"))}
			</p>
			<SaidNote tone={level === "error" ? "failure" : "neutral"}>{message}</SaidNote>
			{needsApproval(event) && <Approval event={event} onDone={reload} />}
			<EventFacts event={event} />
			<Outcomes org={org} event={event} />
			<Files event={event} />
		</>
	);
}

function EventFacts({ event }: { readonly event: Resource }) {
	const { sha, commitHref, subject, sender, repository, ref } = eventOf(event);
	const before = text(event, "before-sha");
	return (
		<dl class="facts">
			{repository && (
				<Fact word="Repository">
					<bdi>{repository}</bdi>
				</Fact>
			)}
			{ref && (
				<Fact word={ref.kind === "pull request" ? "Pull request" : ref.kind === "tag" ? "Tag" : "Branch"}>
					<EventRef event={event} />
				</Fact>
			)}
			{sha && (
				<Fact word="Commit">
					<Sha sha={sha} href={commitHref} /> <bdi>{subject}</bdi>
					{before && <span class="muted"> after {shortSha(before)}</span>}
				</Fact>
			)}
			{sender && (
				<Fact word="By">
					<bdi>{sender}</bdi>
				</Fact>
			)}
			<Fact word="Event">
				<CopyId id={event.id} />
			</Fact>
		</dl>
	);
}

function Approval({ event, onDone }: { readonly event: Resource; readonly onDone: () => Promise<void> }) {
	const sha = eventOf(event).sha;
	const approve = async () => {
		await change("POST", address(`/vcs-events/${segment(event.id)}/actions/approve`));
		announce("The commit is approved");
		await onDone();
	};
	return (
		<div class="note wait">
			<p>
				This pull request comes from a fork. Its code runs in a plan only after somebody who may manage the workspace has read it and
				approved this commit.
			</p>
			<DialogButton
				kind="primary"
				dialog={(close) => (
					<Dialog title={`Approve commit ${shortSha(sha)}`} confirm="Approve" onConfirm={approve} onClose={close}>
						<p>
							The waiting workspaces that you may manage plan the commit <code>{sha}</code>. Other workspaces and later commits of the pull
							request need another approval.
						</p>
					</Dialog>
				)}
			>
				Approve commit
			</DialogButton>
		</div>
	);
}

const mostFiles = 500;

function Files({ event }: { readonly event: Resource }) {
	const files = filesOf(event);
	const note = text(event, "files-note");
	if (!files) {
		return note ? (
			<p class="muted">
				<bdi>{note}</bdi>
			</p>
		) : null;
	}
	return (
		<Fold summary={counted(files.length, "changed file")} open={false}>
			{() => (
				<ul class="plain-list">
					{files.slice(0, mostFiles).map((file) => (
						<li key={file}>
							<code>{file}</code>
						</li>
					))}
					{files.length > mostFiles && <li class="muted">and {counted(files.length - mostFiles, "more", "more")}</li>}
				</ul>
			)}
		</Fold>
	);
}
