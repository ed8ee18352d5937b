// SPDX-License-Identifier: MPL-2.0
import { CopyId } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { Chip } from "../../components/status_mark.tsx";
import { Elapsed, TimeAgo } from "../../components/time_ago.tsx";
import { counted } from "../../core/format.ts";
import { flag, object, type Resource, text, texts } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { type Commit, commitOf } from "../../vcs/commit.ts";
import { CommitFacts, CommitTrigger } from "../../vcs/commit_line.tsx";
import { endOf } from "./stages/stage_list.ts";
import { placeOf, type RunView } from "./view.ts";

const sources: Readonly<Record<string, string>> = {
	"tfe-ui": "in the web UI",
	"tfe-api": "by API",
	"terraform+cloud": "by CLI",
	terraform: "by CLI",
	"tfe-configuration-version": "by an uploaded configuration",
	"tfe-run-trigger": "by a run trigger",
	"runyard-schedule": "by a schedule",
	assessment: "by a health assessment",
};
const reasons: Readonly<Record<string, string>> = { "auto-destroy": "scheduled destruction", "run-trigger": "a run of another workspace" };

export function chipsOf(run: Resource): readonly string[] {
	const targets = texts(run, "target-addrs").length;
	const replaced = texts(run, "replace-addrs").length;
	return [
		flag(run, "is-destroy") && "destroy",
		flag(run, "plan-only") && "plan-only",
		flag(run, "refresh-only") && "refresh-only",
		targets > 0 && `targeted ${targets}`,
		replaced > 0 && `replace ${replaced}`,
		flag(run, "auto-apply") && "auto-apply",
		flag(run, "save-plan") && "saved",
		run.attributes.refresh === false && "without refresh",
	].filter((word) => word !== false);
}

function Queued({ run, commit }: { readonly run: Resource; readonly commit: Commit | undefined }) {
	const creator = store.one(run, "created-by");
	const source = text(run, "source");
	return (
		<>
			<TimeAgo time={run.attributes["created-at"]} />
			{creator && (
				<>
					{" "}
					by <strong>{text(creator, "username")}</strong>
				</>
			)}{" "}
			{commit ? <CommitTrigger commit={commit} byUser={creator !== undefined} /> : (sources[source] ?? `by ${source}`)}
			{reasons[text(run, "trigger-reason")] && `, ${reasons[text(run, "trigger-reason")]}`}
		</>
	);
}

// Addresses and variables of a run, which matter if the plan is smaller than expected.
function Restrictions({ run }: { readonly run: Resource }) {
	const rows = [
		["Targets", texts(run, "target-addrs")],
		["Replaced on request", texts(run, "replace-addrs")],
	] as const;
	return (
		<>
			{rows
				.filter(([, list]) => list.length > 0)
				.map(([word, list]) => (
					<Fact key={word} word={word}>
						<code>{list.slice(0, 5).join(", ")}</code>
						{list.length > 5 && ` and ${counted(list.length - 5, "more", "more")}`}
					</Fact>
				))}
		</>
	);
}

export function Facts({ view }: { readonly view: RunView }) {
	const { run, parts } = view;
	const configuration = store.one(run, "configuration-version");
	const commit = commitOf(run);
	const download = configuration?.links?.download;
	const worker = object(parts.apply, "execution-details")["agent-name"] ?? object(parts.plan, "execution-details")["agent-name"];
	return (
		<dl class="run-facts">
			<Fact word="Queued">
				<Queued run={run} commit={commit} />
			</Fact>
			{commit && (
				<Fact word="Commit">
					<CommitFacts org={placeOf(view).org} commit={commit} />
				</Fact>
			)}
			<Fact word={endOf(run) ? "Took" : "So far"}>
				<Elapsed since={run.attributes["created-at"]} until={endOf(run)} />
			</Fact>
			{chipsOf(run).length > 0 && (
				<Fact word="Mode">
					{chipsOf(run).map((word) => (
						<Chip key={word}>{word}</Chip>
					))}
				</Fact>
			)}
			{text(run, "terraform-version") && <Fact word="Terraform">{text(run, "terraform-version")}</Fact>}
			{typeof worker === "string" && <Fact word="Worker">{worker}</Fact>}
			{download && text(configuration, "status") === "uploaded" && (
				<Fact word="Configuration">
					<a href={download} download>
						Download
					</a>
				</Fact>
			)}
			<Fact word="Run">
				<CopyId id={run.id} />
			</Fact>
			<Restrictions run={run} />
		</dl>
	);
}
