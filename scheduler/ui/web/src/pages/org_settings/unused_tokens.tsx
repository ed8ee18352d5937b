// SPDX-License-Identifier: MPL-2.0
import { FilterChips } from "../../components/filters.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import type { OrganizationView } from "./settings_frame.tsx";
import { tokenKind } from "./token_kind.tsx";

const chips = [
	{ key: "30", word: "30 days" },
	{ key: "", word: "90 days" },
	{ key: "365", word: "A year" },
] as const;

function kindOf(view: OrganizationView, teams: readonly Resource[]): ObjectKind {
	const below = pathTo("/app/:org/settings", { org: view.org });
	const teamOf = (token: Resource) => linkOf(token, "team")?.id ?? "";
	const nameOf = (token: Resource) =>
		text(
			teams.find(({ id }) => id === teamOf(token)),
			"name",
		) || teamOf(token);
	const team = {
		key: "team",
		head: "Team",
		cell: (token: Resource) => <a href={`${below}/teams?id=${segment(teamOf(token))}`}>{nameOf(token)}</a>,
	};
	return {
		...tokenKind,
		many: "Unused tokens",
		empty: "No team has a token that is unused for so long.",
		fields: [],
		columns: [team, ...tokenKind.columns],
	};
}

// Tokens of teams without a use for some time.
export function UnusedTokens({ view }: { readonly view: OrganizationView }) {
	const query = useQuery();
	const teams = useDocument(address(`${view.path}/teams`, { "page[size]": "100" }));
	const url = address(`${view.path}/team-tokens`, {
		"filter[unused-days]": query.get("unused") || "90",
		"page[number]": query.get("page") ?? undefined,
	});
	return (
		<>
			<h2>Unused tokens of teams</h2>
			<div class="filters">
				<FilterChips label="Unused for" name="unused" chips={chips} />
			</div>
			<ObjectList kind={kindOf(view, teams.items)} url={url} createPath="" />
		</>
	);
}
