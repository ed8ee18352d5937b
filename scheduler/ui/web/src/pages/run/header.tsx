// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { CopyId } from "../../components/copy_id.tsx";
import { Chip, StatusMark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { moneyDelta } from "../../core/format.ts";
import { flag, number, object, type Resource, text, texts } from "../../core/resource.ts";
import { statusRow } from "../../core/status.ts";
import { store } from "../../core/store.ts";
import { Actions } from "./actions.tsx";
import type { RunView } from "./run.tsx";

export function since(run: Resource): unknown {
	const key = statusRow(text(run, "status"))?.timestamp ?? "";
	return object(run, "status-timestamps")[key] ?? run.attributes["created-at"];
}

// The counts of the plan: the glyph always stands with the word.
export function Counts({ plan }: { readonly plan: Resource | undefined }) {
	const counts = [
		["+", "to add", number(plan, "resource-additions")],
		["~", "to change", number(plan, "resource-changes")],
		["−", "to destroy", number(plan, "resource-destructions")],
		["import", "to import", number(plan, "resource-imports")],
	] as const;
	if (text(plan, "status") !== "finished") {
		return null;
	}
	return (
		<span class="counts">
			{counts
				.filter(([, , value], i) => i < 3 || (value ?? 0) > 0)
				.map(([glyph, word, value]) => (
					<span key={word} class={glyph === "−" && value ? "failure" : ""}>
						<span aria-hidden="true">{glyph}</span>
						{value ?? 0} <span class="sr-only">{word}</span>
					</span>
				))}
		</span>
	);
}

export function Header({ view }: { readonly view: RunView }) {
	const { run } = view;
	const cost = store.one(run, "cost-estimate");
	return (
		<header class="run-header">
			<div class="run-title">
				<StatusMark run={run} /> <TimeAgo time={since(run)} />
				<h1 tabIndex={-1}>{text(run, "message") || run.id}</h1>
			</div>
			<div class="run-numbers">
				<Counts plan={store.one(run, "plan")} />
				{text(cost, "status") === "finished" && <span>{moneyDelta(text(cost, "delta-monthly-cost"))} a month</span>}
			</div>
			<Actions view={view} main />
		</header>
	);
}

const sources: Readonly<Record<string, string>> = {
	"tfe-ui": "the web UI",
	"tfe-api": "the API",
	"terraform+cloud": "the CLI",
	terraform: "the CLI",
	"tfe-configuration-version": "an uploaded configuration",
	"tfe-run-trigger": "a run trigger",
};

function chipsOf(run: Resource): readonly string[] {
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
	].filter((word) => word !== false);
}

function Fact({ word, children }: { readonly word: string; readonly children: ComponentChildren }) {
	return (
		<div>
			<dt>{word}</dt>
			<dd>{children}</dd>
		</div>
	);
}

export function Facts({ view }: { readonly view: RunView }) {
	const { run } = view;
	const creator = store.one(run, "created-by");
	const error = text(run, "error");
	return (
		<>
			{error && (
				<p class="note failure" data-problem tabIndex={-1}>
					{error}
				</p>
			)}
			<dl class="facts">
				<Fact word="Run">
					<CopyId id={run.id} />
				</Fact>
				<Fact word="Created">
					<TimeAgo time={run.attributes["created-at"]} />
					{creator && ` by ${text(creator, "username")}`} from {sources[text(run, "source")] ?? text(run, "source")}
				</Fact>
				<Fact word="Terraform">{text(run, "terraform-version")}</Fact>
				{chipsOf(run).length > 0 && (
					<Fact word="Mode">
						{chipsOf(run).map((word) => (
							<Chip key={word}>{word}</Chip>
						))}
					</Fact>
				)}
			</dl>
		</>
	);
}
