// SPDX-License-Identifier: MPL-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorPanel } from "../components/error_panel.tsx";
import { Content } from "../components/states.tsx";
import { address, segment } from "../core/api.ts";
import { count, counted } from "../core/format.ts";
import { type Loaded, toggled, useDocument, useLater, useQuery } from "../core/hooks.ts";
import { flag, type Resource, text } from "../core/resource.ts";
import { addressWith, navigate, queryChange } from "../core/router.ts";
import { ChangeList, type Target } from "./change_list.tsx";
import { classes } from "./classes.ts";
import {
	badgeKeys,
	countsOf,
	entriesOf,
	filterItems,
	type Grouping,
	groupings,
	groupKeys,
	type Item,
	itemsOf,
	placeFragment,
	placeId,
} from "./items.ts";
import { riskText } from "./risk_hints.ts";
import { type Summary, summaryOf } from "./summary.ts";

const retryMs = 2000;
const maxTries = 5;

// The changes of a finished plan.
export function PlanChanges({ plan }: { readonly plan: Resource }) {
	const isFinished = text(plan, "status") === "finished";
	const query = useQuery();
	const [typed, setTyped] = useState(query.get("find") ?? "");
	const settled = useLater(typed);
	useEffect(() => {
		if (settled !== (query.get("find") ?? "")) {
			queryChange({ find: settled });
		}
	}, [settled]);
	const searched = settled.startsWith("value:") ? settled.slice("value:".length).trim() : "";
	const path = `/plans/${segment(plan.id)}/changes`;
	const document = useDocument(isFinished ? address(path, { "filter[value]": searched }) : undefined);
	// The list stays while a search for values is answered.
	const last = useRef<Resource | undefined>(undefined);
	last.current = document.item ?? last.current;
	useRetry(document);
	if (!isFinished) {
		return null;
	}
	if (!last.current) {
		return <Content of={document}>{() => <p>The plan has no list of its changes.</p>}</Content>;
	}
	return (
		<>
			{document.error && <ErrorPanel error={document.error} onRetry={document.reload} />}
			<Changes
				plan={plan}
				resource={last.current}
				typed={typed}
				onTyped={setTyped}
				chosen={query.get("show") ?? ""}
				grouping={groupings.find(([key]) => key === query.get("group"))?.[0] ?? "class"}
			/>
		</>
	);
}

// The plan's JSON may arrive a little after its result.
function useRetry(document: Loaded): void {
	const tries = useRef(0);
	useEffect(() => {
		if (document.loading || document.error || document.item || document.asOf === 0 || tries.current >= maxTries) {
			return;
		}
		tries.current += 1;
		const timer = setTimeout(document.reload, retryMs);
		return () => clearTimeout(timer);
	}, [document.asOf]);
}

type Props = {
	readonly plan: Resource;
	readonly resource: Resource;
	readonly typed: string;
	readonly onTyped: (text: string) => void;
	readonly chosen: string; // classes and badges, separated by commas; "": all
	readonly grouping: Grouping;
};

// Which drawers are open. The fragment names one, which opens and comes into view. onMissing returns true if it asks for
// more items, because the item may be among them.
export function useOpen(items: readonly Item[], onShow: (item: Item) => void, onMissing: () => boolean) {
	const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
	const [target, setTarget] = useState<Target | undefined>();
	const missing = useRef(false);
	const follow = useRef(() => {});
	follow.current = () => {
		const id = placeId(location.hash);
		const item = items.find((candidate) => candidate.id === id);
		missing.current = id !== "" && !item && onMissing();
		if (item) {
			onShow(item);
			setOpen((old) => new Set([...old, id]));
			setTarget({ id });
		}
	};
	useEffect(() => {
		const onHash = () => follow.current();
		onHash();
		addEventListener("hashchange", onHash);
		return () => removeEventListener("hashchange", onHash);
	}, []);
	useEffect(() => {
		if (missing.current) {
			follow.current();
		}
	}, [items]);
	const toggle = (item: Item) => {
		if (!open.has(item.id)) {
			navigate(location.pathname + location.search + placeFragment(item), true);
		}
		setOpen(toggled(open, item.id));
	};
	return { open, target, toggle };
}

function Changes({ plan, resource, typed, onTyped, chosen, grouping }: Props) {
	const summary = useMemo(() => summaryOf(resource), [resource]);
	const items = useMemo(() => itemsOf(summary), [summary]);
	const counts = useMemo(() => countsOf(items), [items]);
	const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
	const words = typed.startsWith("value:") ? "" : typed;
	const shown = useMemo(
		() => filterItems(items, { classes: new Set(chosen.split(",").filter(Boolean)), text: words }),
		[items, chosen, words],
	);
	const entries = useMemo(() => entriesOf(shown, grouping, closed), [shown, grouping, closed]);
	const unfilter = () => {
		onTyped("");
		queryChange({ show: "", find: "" });
	};
	const show = (item: Item) => {
		if (!shown.includes(item)) {
			unfilter();
		}
		const keys = groupKeys(item, grouping);
		setClosed((old) => (keys.some((key) => old.has(key)) ? new Set([...old].filter((key) => !keys.includes(key))) : old));
	};
	const { open, target, toggle } = useOpen(items, show, () => {
		const isPart = typed.startsWith("value:");
		if (isPart) {
			unfilter();
		}
		return isPart;
	});
	if (items.length === 0 && !typed) {
		return <Empty plan={plan} summary={summary} />;
	}
	return (
		<section class="changes" aria-label="Changes of the plan">
			{!flag(plan, "has-changes") && <Empty plan={plan} summary={summary} />}
			{summary.risks.length > 0 && <Risks summary={summary} />}
			<div class="change-bar">
				<Chips counts={counts} chosen={chosen} />
				<input
					type="search"
					aria-label="Filter changes"
					placeholder="Address, type, attribute, value:text"
					maxLength={200}
					value={typed}
					onInput={(event) => onTyped(event.currentTarget.value)}
				/>
				<select aria-label="Group changes" value={grouping} onChange={(event) => queryChange({ group: event.currentTarget.value })}>
					{groupings.map(([key, word]) => (
						<option key={key} value={key}>
							{word}
						</option>
					))}
				</select>
				<span class="muted" role="status">
					{shown.length === items.length ? counted(items.length, "row") : `showing ${count(shown.length)} of ${count(items.length)}`}
				</span>
			</div>
			{summary.truncated && <p class="note wait">The plan has more changes than this list. The plan's JSON has all.</p>}
			{shown.length === 0 ? (
				<p class="muted">Nothing matches the filter.</p>
			) : (
				<ChangeList
					plan={plan.id}
					entries={entries}
					open={open}
					target={target}
					onToggle={toggle}
					onToggleGroup={(key) => setClosed(toggled(closed, key))}
				/>
			)}
		</section>
	);
}

// What the organization wants to be noticed (its setting "risk hint types").
function Risks({ summary }: { readonly summary: Summary }) {
	return (
		<ul class="note failure risks" aria-label="Risks">
			{summary.risks.map((hint) => (
				<li key={hint.type + hint.action}>{riskText(hint)}</li>
			))}
		</ul>
	);
}

function Empty({ plan, summary }: { readonly plan: Resource; readonly summary: Summary }) {
	if (flag(plan, "has-changes")) {
		return <p>The plan changes nothing that is listed here.</p>;
	}
	const drift = summary.rows.some((row) => row.list === "drift");
	return (
		<p>
			No changes. Infrastructure matches the configuration.
			{drift && " Terraform found changes that were made outside of it."}
		</p>
	);
}

// Filter links with counts. A chosen one is taken back by the same link.
function Chips({ counts, chosen }: { readonly counts: ReadonlyMap<string, number>; readonly chosen: string }) {
	const keys = chosen.split(",").filter(Boolean);
	const chips = [...classes, ...badgeKeys.map((key) => ({ key, word: key, tone: "muted" }))];
	const next = (key: string) => (keys.includes(key) ? keys.filter((other) => other !== key) : [...keys, key]);
	return (
		<nav class="change-chips" aria-label="Filter by action">
			{chips
				.filter(({ key }) => counts.has(key))
				.map(({ key, word, tone }) => (
					<a
						key={key}
						class={`chip ${tone}`}
						href={addressWith({ show: next(key).join(",") })}
						aria-current={keys.includes(key) ? "true" : undefined}
					>
						{word} <span class="count">{count(counts.get(key) ?? 0)}</span>
					</a>
				))}
		</nav>
	);
}
