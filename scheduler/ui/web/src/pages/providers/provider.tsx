// SPDX-License-Identifier: MPL-2.0
import { CopyButton } from "../../components/copy.tsx";
import { DeleteNamed } from "../../components/delete_named.tsx";
import { Fact } from "../../components/fact.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { may, type Resource, text, texts } from "../../core/resource.ts";
import { navigate, type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { RegistryTags } from "../../objects/tags.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { manageReason, stateOf, usageOf } from "./provider_words.ts";
import { type Place, VersionButton } from "./version_button.tsx";

const reasonOf = (item: Resource) => (may(item, "can-delete") ? undefined : manageReason);
const loss = "Configurations that require it can't be initialized any more.";

const columnsOf = (place: Place): readonly Column<Resource>[] => [
	{ key: "version", head: "Version", cell: (version) => <strong>{text(version, "version")}</strong> },
	{
		key: "state",
		head: "State",
		class: "tight",
		cell: (version) => {
			const [tone, word] = stateOf(version);
			return <Mark tone={tone}>{word}</Mark>;
		},
	},
	{ key: "platforms", head: "Platforms", cell: (version) => texts(version, "usable-platforms").join(", ") || "–" },
	{ key: "key", head: "GPG key", class: "wide", cell: (version) => <bdi>{text(version, "key-id")}</bdi> },
	{ key: "protocols", head: "Protocols", class: "wide", cell: (version) => texts(version, "protocols").join(", ") },
	{
		key: "actions",
		head: <span class="sr-only">Actions</span>,
		cell: (version) => (
			<span class="cell-actions">
				<VersionButton place={place} version={version} reason={reasonOf(version)} />
				<DeleteNamed
					word="version"
					name={text(version, "version")}
					url={`${place.path}/versions/${segment(text(version, "version"))}`}
					reason={reasonOf(version)}
					onDone={place.reload}
				>
					{loss}
				</DeleteNamed>
			</span>
		),
	},
];

function Versions({ org, provider, path, reload }: Place) {
	const page = useQuery().get("page") ?? undefined;
	const list = useDocument(`${path}/versions${page ? `?page%5Bnumber%5D=${segment(page)}` : ""}`);
	const place = { org, provider, path, reload: () => Promise.all([list.reload(), reload()]) };
	return (
		<section aria-labelledby="versions">
			<div class="page-head">
				<h2 id="versions">Versions</h2>
				<VersionButton place={place} reason={reasonOf(provider)} />
			</div>
			<Content of={list}>
				{() =>
					list.items.length > 0 ? (
						<>
							<PlainTable caption="Versions" columns={columnsOf(place)} rows={list.items} keyOf={({ id }) => id} class="stack" />
							<Pagination pages={list.pages} />
						</>
					) : (
						<p>
							There is no version yet. One needs SHA256SUMS, its signature by a GPG key of the organization, and an archive for each
							platform.
						</p>
					)
				}
			</Content>
		</section>
	);
}

function Usage({ provider }: { readonly provider: Resource }) {
	const usage = usageOf(provider, location.host);
	return (
		<section aria-labelledby="usage">
			<h2 id="usage">How to use</h2>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that may scroll needs the focus */}
			<pre tabIndex={0}>{usage}</pre>
			<p>
				<CopyButton text={usage} label="Copy the block" word="Copy" />
			</p>
		</section>
	);
}

export default function Provider({ params }: PageProps) {
	const { org = "", provider: id = "" } = params;
	const found = useDocument(address(`/registry-providers/${segment(id)}`));
	const provider = found.item;
	const name = text(provider, "name");
	const list = pathTo("/app/:org/providers", { org });
	useTitle([name || "Provider", org]);
	const parts = ["registry-name", "namespace", "name"].map((part) => segment(text(provider, part)));
	const path = address(`/organizations/${segment(org)}/registry-providers/${parts.join("/")}`);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Providers", href: list },
					{ word: name || "Provider" },
				]}
			/>
			<Content of={found}>
				{() =>
					provider && (
						<>
							<h1 tabIndex={-1}>{name}</h1>
							<dl class="facts">
								<Fact word="Namespace">{text(provider, "namespace")}</Fact>
								<Fact word="Registry">{text(provider, "registry-name") === "public" ? "Public" : "Private"}</Fact>
								<Fact word="Latest version">{text(provider, "latest-version") || "–"}</Fact>
								<Fact word="Changed">
									<TimeAgo time={provider.attributes["updated-at"]} />
								</Fact>
							</dl>
							<Usage provider={provider} />
							<RegistryTags org={org} item={provider} path={list} />
							{text(provider, "registry-name") === "public" ? (
								<p>The public registry has the versions of this provider.</p>
							) : (
								<Versions org={org} provider={provider} path={path} reload={found.reload} />
							)}
							<section aria-labelledby="deletion">
								<h2 id="deletion">Delete provider</h2>
								<p>
									<DeleteNamed word="provider" name={name} url={path} reason={reasonOf(provider)} onDone={() => navigate(list)}>
										{loss}
									</DeleteNamed>
								</p>
							</section>
						</>
					)
				}
			</Content>
		</>
	);
}
