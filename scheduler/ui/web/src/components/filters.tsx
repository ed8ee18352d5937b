// SPDX-License-Identifier: MPL-2.0
import { count } from "../core/format.ts";
import { addressWith, navigate, queryChange, queryNow } from "../core/router.ts";
import { EmptyState } from "./states.tsx";

export type FilterChip = { readonly key: string; readonly word: string; readonly count?: number | undefined };

// Links that set ?name=key. The one that is chosen is marked.
export function FilterChips({
	label,
	name,
	chips,
}: {
	readonly label: string;
	readonly name: string;
	readonly chips: readonly FilterChip[];
}) {
	const chosen = queryNow().get(name) ?? "";
	return (
		<nav class="chips" aria-label={label}>
			{chips.map(({ key, word, count: of }) => (
				<a key={key} class="chip" href={addressWith({ [name]: key, page: "" })} aria-current={chosen === key ? "true" : undefined}>
					{word} {of !== undefined && <span class="count">{count(of)}</span>}
				</a>
			))}
		</nav>
	);
}

type SelectProps = {
	readonly label: string;
	readonly name: string;
	readonly options: readonly (readonly [value: string, word: string])[];
};

export function FilterSelect({ label, name, options }: SelectProps) {
	return (
		<select
			aria-label={label}
			value={queryNow().get(name) ?? ""}
			onChange={(event) => queryChange({ [name]: event.currentTarget.value, page: "" }, false)}
		>
			{options.map(([value, word]) => (
				<option key={value} value={value}>
					{word}
				</option>
			))}
		</select>
	);
}

export function NothingMatches() {
	return (
		<EmptyState title="Nothing matches">
			<button type="button" class="button plain" onClick={() => navigate(location.pathname)}>
				Clear filters
			</button>
		</EmptyState>
	);
}
