// SPDX-License-Identifier: MPL-2.0

import { useQuery } from "../../core/hooks.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { Builder } from "./builder.tsx";
import { addressOf, filtersOf, type Query, queryOf } from "./query.ts";
import { Results } from "./results.tsx";
import { SavedViews } from "./saved_views.tsx";
import { typeWords, useCases } from "./words.ts";

export default function Explorer({ params }: PageProps) {
	const org = params.org ?? "";
	const query = queryOf(useQuery());
	const [word, about] = typeWords[query?.type ?? ""] ?? [
		"Explorer",
		"What the workspaces of the organization have and use, as far as you see them.",
	];
	useTitle(query ? [word, "Explorer", org] : ["Explorer", org]);
	const home = pathTo("/app/:org/explorer", { org });
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Explorer", ...(query && { href: home }) },
					...(query ? [{ word }] : []),
				]}
			/>
			<h1 tabIndex={-1}>{word}</h1>
			<p>{about}</p>
			{query ? (
				<>
					<Builder key={String(addressOf(query))} org={org} query={query} />
					<Results key={filtersOf(query)} org={org} query={query} />
				</>
			) : (
				<Home org={org} />
			)}
		</>
	);
}

function Home({ org }: { readonly org: string }) {
	const link = (query: Query) => `${pathTo("/app/:org/explorer", { org })}?${addressOf(query)}`;
	return (
		<>
			<section aria-labelledby="explorer-types">
				<h2 id="explorer-types">Types</h2>
				<ul class="plain-list explorer-links">
					{Object.entries(typeWords).map(([type, [word, about]]) => (
						<li key={type}>
							<a href={link({ type, conditions: [], sort: "", columns: [] })}>{word}</a> <span class="muted">{about}</span>
						</li>
					))}
				</ul>
			</section>
			<section aria-labelledby="explorer-cases">
				<h2 id="explorer-cases">Use cases</h2>
				<ul class="plain-list explorer-links">
					{useCases.map(([word, query]) => (
						<li key={word}>
							<a href={link(query)}>{word}</a>
						</li>
					))}
				</ul>
			</section>
			<SavedViews org={org} />
		</>
	);
}
