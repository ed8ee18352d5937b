// SPDX-License-Identifier: MPL-2.0
import { Chip, StatusMark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { counted, moneyDelta } from "../../core/format.ts";
import { object, type Resource, text } from "../../core/resource.ts";
import { statusRow } from "../../core/status.ts";
import { Actions } from "./actions/actions.tsx";
import { countsOf } from "./changes_summary.ts";
import type { RunView } from "./view.ts";
import { warningsOf } from "./warnings.ts";

export function since(run: Resource): unknown {
	const key = statusRow(text(run, "status"))?.timestamp ?? "";
	return object(run, "status-timestamps")[key] ?? run.attributes["created-at"];
}

const glyphs = [
	["create", "+", "to add", "success"],
	["update", "~", "to change", "running"],
	["replace", "−/+", "to replace", "replace"],
	["delete", "−", "to destroy", "failure"],
	["import", "import", "", ""],
	["move", "move", "", ""],
] as const;

type CountsProps = { readonly plan: Resource | undefined; readonly changes?: Resource | undefined; readonly words?: boolean };

// The counts of the plan: the glyph always stands with the word, which `words` also shows.
export function Counts({ plan, changes, words = false }: CountsProps) {
	if (text(plan, "status") !== "finished") {
		return null;
	}
	const counts = countsOf(plan, changes);
	return (
		<span class="counts">
			{glyphs
				.filter(([key]) => counts[key] > 0 || key === "create" || key === "update" || key === "delete")
				.map(([key, glyph, word, tone]) => (
					<span key={key} class={`count-of ${counts[key] > 0 ? tone : "muted"}`} title={`${counts[key]} ${word || `to ${key}`}`}>
						<span aria-hidden={word ? "true" : undefined}>{glyph} </span>
						{counts[key]} <span class={words ? "" : "sr-only"}>{word}</span>
					</span>
				))}
		</span>
	);
}

function Warnings({ view }: { readonly view: RunView }) {
	const warnings = warningsOf(view.parts);
	const [first] = warnings;
	return first ? (
		<a href={`#${first.stage}`} class="warning-link">
			<Chip tone="wait">
				<span aria-hidden="true">! </span>
				{warnings.length === 1 ? first.text : `${counted(warnings.length, "advisory check")} failed`}
			</Chip>
		</a>
	) : null;
}

export function Header({ view }: { readonly view: RunView }) {
	const { run, parts } = view;
	return (
		<header class="run-header">
			<div class="run-title">
				<div class="run-state">
					<StatusMark run={run} isLive /> <TimeAgo time={since(run)} /> <Counts plan={parts.plan} changes={view.changes.item} />
					{text(parts.cost, "status") === "finished" && (
						<a href="#cost" class="cost-delta">
							{moneyDelta(text(parts.cost, "delta-monthly-cost"), text(parts.cost, "currency"))} a month
						</a>
					)}
					<Warnings view={view} />
				</div>
				<h1 tabIndex={-1} title={text(run, "message")}>
					{text(run, "message") || run.id}
				</h1>
			</div>
			{!view.reader && <Actions view={view} main />}
		</header>
	);
}
