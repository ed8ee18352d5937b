// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { Fold } from "../../../components/fold.tsx";
import { SafeLink } from "../../../components/safe_link.tsx";
import { Content } from "../../../components/states.tsx";
import { Chip } from "../../../components/status_mark.tsx";
import { address, bytes, pathOnPage, segment } from "../../../core/api.ts";
import { counted } from "../../../core/format.ts";
import { useDocument, useRead } from "../../../core/hooks.ts";
import { list, number, type Resource, text } from "../../../core/resource.ts";
import type { Tone } from "../../../core/status.ts";
import { Markdown } from "../../../markdown/markdown.tsx";

const levels: Readonly<Record<string, readonly [Tone | undefined, string]>> = {
	info: ["running", "ℹ "],
	warning: ["wait", "! "],
	error: ["failure", "✕ "],
};

function TagChip({ tag }: { readonly tag: Tag }) {
	const [tone, icon] = levels[tag.level] ?? [undefined, ""];
	return (
		<Chip {...(tone && { tone })}>
			{icon && <span aria-hidden="true">{icon}</span>}
			{tag.label}: {tag.value}
		</Chip>
	);
}

function Body({ href }: { readonly href: string }) {
	const { value: body, error } = useRead(href, async (signal) => new TextDecoder().decode(await bytes(pathOnPage(href), signal)));
	return error ? (
		<p class="note failure">{error.message}</p>
	) : body === undefined ? null : body ? (
		<Markdown text={body} />
	) : (
		<p class="muted">No description.</p>
	);
}

function Outcome({ outcome }: { readonly outcome: Resource }) {
	const summary = (
		<>
			<code>{text(outcome, "outcome-id")}</code> {text(outcome, "description")}{" "}
			{tagsOf(list(outcome, "tags")).map((tag, i) => (
				<TagChip key={`${tag.label} ${i}`} tag={tag} />
			))}
		</>
	);
	return (
		<li>
			<Fold class="outcome" open={false} summary={summary}>
				{() => (
					<>
						<Body href={outcome.links?.body ?? ""} />
						<SafeLink href={text(outcome, "url")}>Details of {text(outcome, "outcome-id")}</SafeLink>
					</>
				)}
			</Fold>
		</li>
	);
}

function OutcomeList({ result }: { readonly result: Resource }) {
	const outcomes = useDocument(address(`/task-results/${segment(result.id)}/outcomes`));
	const count = number(result, "task-result-outcomes-count");
	useEffect(() => void outcomes.reload(), [count]);
	return (
		<Content of={outcomes}>
			{() => (
				<ul class="plain-list">
					{outcomes.items.map((outcome) => (
						<Outcome key={outcome.id} outcome={outcome} />
					))}
				</ul>
			)}
		</Content>
	);
}

export function Outcomes({ result, open }: { readonly result: Resource; readonly open: boolean }) {
	return (
		<Fold class="inner" open={open} summary={counted(number(result, "task-result-outcomes-count") ?? 0, "outcome")}>
			{() => <OutcomeList result={result} />}
		</Fold>
	);
}

// The tags of a task's outcome: severity and status first.

export type Tag = { readonly label: string; readonly value: string; readonly level: string };

const first = ["severity", "status"];

function place(tag: Tag): number {
	const at = first.indexOf(tag.label.toLowerCase());
	return at < 0 ? first.length : at;
}

const maxTags = 50;

// tagsOf: a tag's value is a list of {label, level}, one of these, or a text.
export function tagsOf(tags: readonly unknown[]): readonly Tag[] {
	return tags
		.flatMap((tag) => {
			const { label, value } = (tag ?? {}) as { label?: unknown; value?: unknown };
			const values = Array.isArray(value) ? value : [value];
			return values.map((item) => {
				const object = (item !== null && typeof item === "object" ? item : { label: item }) as { label?: unknown; level?: unknown };
				return { label: String(label ?? ""), value: String(object.label ?? ""), level: String(object.level ?? "none") };
			});
		})
		.slice(0, maxTags)
		.sort((a, b) => place(a) - place(b));
}
