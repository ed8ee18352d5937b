// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { SafeLink } from "../../components/safe_link.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt, useDocument, useInterval, useQuery } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo, queryChange } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { isOwn } from "../../objects/tag_search.ts";
import { RegistryTags } from "../../objects/tags.tsx";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { type Use, usesOf } from "./description.ts";
import { DescriptionParts } from "./description_parts.tsx";
import { ModuleRepository } from "./module_repository.tsx";
import {
	addressOf,
	isChanging,
	latestOf,
	pathOf,
	pollMs,
	publishedOf,
	setupOf,
	usageOf,
	type Version,
	versionsOf,
} from "./module_words.ts";
import { NoCodeSettings, ProvisionLink } from "./no_code_settings.tsx";
import { useDescription } from "./use_description.ts";
import { ModuleDeletion, NewVersion, type Place, VersionActions } from "./version_actions.tsx";

// Tests a version again whose tests have not passed: the version is published if they pass.
function TestAgain({ version, place }: { readonly version: string; readonly place: Place }) {
	const { error, attempt } = useAttempt();
	const test = () =>
		attempt(async () => {
			await change("POST", address(`${pathOf(place.org, place.module)}/${segment(version)}/actions/test`));
			announce(`The tests of version ${version} run again`);
			await place.reload();
		});
	return (
		<>
			<Problems of={error} />
			<Button onPress={test} label={`Test Again: version ${version}`}>
				Test Again
			</Button>
		</>
	);
}

const columnsOf = (place: Place): readonly Column<Version>[] => [
	{ key: "version", head: "Version", cell: ({ version }) => <strong>{version}</strong> },
	{ key: "state", head: "State", class: "tight", cell: ({ tone, word }) => <Mark tone={tone}>{word}</Mark> },
	{
		key: "note",
		head: "Note",
		cell: ({ version, note, link, testRun, testsFailed }) => (
			<>
				<bdi>{note}</bdi>{" "}
				{testRun && may(place.module, "can-retry") && (
					<a
						href={`${pathTo("/app/:org/modules/:module/tests", { org: place.org, module: place.module.id })}?run=${encodeURIComponent(testRun)}`}
						aria-label={`Test run of version ${version}`}
					>
						Test run
					</a>
				)}{" "}
				{testsFailed && may(place.module, "can-retry") && <TestAgain version={version} place={place} />}
				<SafeLink href={link} label={`More about version ${version}`}>
					More
				</SafeLink>
			</>
		),
	},
	...(may(place.module, "can-delete")
		? [
				{
					key: "actions",
					head: <span class="sr-only">Actions</span>,
					cell: (version: Version) => <VersionActions place={place} version={version} />,
				},
			]
		: []),
];

function Versions({ place }: { readonly place: Place }) {
	const { module, reload } = place;
	const versions = versionsOf(module);
	useInterval(pollMs, () => isChanging(module) && reload());
	return (
		<section aria-labelledby="versions">
			<div class="page-head">
				<h2 id="versions">Versions</h2>
				<NewVersion place={place} />
			</div>
			{versions.length > 0 ? (
				<PlainTable caption="Versions" columns={columnsOf(place)} rows={versions} keyOf={({ version }) => version} class="stack" />
			) : (
				<p>
					{text(module, "registry-name") === "public" ? "The public registry has the versions of this module." : "There is no version yet."}
				</p>
			)}
		</section>
	);
}

function Usage({ module }: { readonly module: Resource }) {
	const usage = usageOf(module, location.host, latestOf(versionsOf(module)));
	return (
		<section aria-labelledby="usage">
			<h2 id="usage">How to use</h2>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that may scroll needs the focus */}
			<pre tabIndex={0}>{usage}</pre>
			<p>
				<CopyButton text={usage} label="Copy the module block" word="Copy" />
			</p>
		</section>
	);
}

// What the inspection found of the selected version.
function Described({ module }: { readonly module: Resource }) {
	const usable = versionsOf(module).filter(({ status }) => status === "ok");
	const wanted = useQuery().get("version");
	const selected = usable.find(({ version }) => version === wanted)?.version ?? (latestOf(versionsOf(module)) || usable[0]?.version || "");
	const { found, description } = useDescription(module.id, selected);
	if (usable.length === 0) {
		return null;
	}
	return (
		<>
			<SelectField
				label="Described version"
				value={selected}
				onValue={(version) => queryChange({ version })}
				options={usable.map(({ version }) => [version, version])}
			/>
			<Content of={found}>
				{() =>
					description ? (
						<DescriptionParts description={description} />
					) : (
						<p>This version has not been inspected yet, or can't be described.</p>
					)
				}
			</Content>
		</>
	);
}

const useColumns: readonly Column<Use>[] = [
	{ key: "version", head: "Version", cell: ({ version }) => <strong>{version}</strong> },
	{ key: "part", head: "Part", cell: ({ part }) => <bdi>{part || "the module"}</bdi> },
	{ key: "count", head: "Workspaces", class: "tight", cell: ({ count }) => count },
	{ key: "workspaces", head: "Names", cell: ({ workspaces }) => <bdi>{workspaces}</bdi> },
];

// Which workspaces use which version, by the explorer: as the last run of each has installed it.
function Uses({ org, module }: { readonly org: string; readonly module: Resource }) {
	const source = addressOf(module, location.host);
	const found = useDocument(
		address(`/organizations/${segment(org)}/explorer`, {
			type: "modules",
			"filter[0][source][contains][0]": source,
			sort: "-version",
			"page[size]": 100,
		}),
	);
	return (
		<section aria-labelledby="uses">
			<h2 id="uses">Used by</h2>
			<Content of={found}>
				{() => {
					const uses = usesOf(found.items, source);
					return uses.length === 0 ? (
						<p>No workspace that you see uses this module.</p>
					) : (
						<PlainTable
							caption="Used by"
							columns={useColumns}
							rows={uses}
							keyOf={({ part, version }) => `${version} ${part}`}
							class="wrap"
						/>
					);
				}}
			</Content>
		</section>
	);
}

function Facts({ module }: { readonly module: Resource }) {
	const [tone, word] = setupOf(module);
	return (
		<dl class="facts">
			<Fact word="State">
				<Mark tone={tone}>{word}</Mark>
			</Fact>
			<Fact word="Provider">{text(module, "provider")}</Fact>
			<Fact word="Namespace">{text(module, "namespace")}</Fact>
			<Fact word="Published">
				<bdi>{publishedOf(module)}</bdi>
			</Fact>
			<Fact word="Changed">
				<TimeAgo time={module.attributes["updated-at"]} />
			</Fact>
		</dl>
	);
}

export default function Module({ params }: PageProps) {
	const { org = "", module: id = "" } = params;
	const found = useDocument(address(`/registry-modules/${segment(id)}`));
	const module = found.item;
	const name = text(module, "name");
	useTitle([name || "Module", org]);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Modules", href: pathTo("/app/:org/modules", { org }) },
					{ word: name || "Module" },
				]}
			/>
			<Content of={found}>
				{() =>
					module && (
						<>
							<div class="page-head">
								<h1 tabIndex={-1}>{name}</h1>
								<ProvisionLink org={org} module={module} />
							</div>
							<Facts module={module} />
							{text(module, "registry-name") === "private" && may(module, "can-delete") && (
								<p>
									<a href={pathTo("/app/:org/modules/:module/tests", { org, module: id })}>Tests</a>
								</p>
							)}
							<Usage module={module} />
							<RegistryTags org={org} item={module} path={pathTo("/app/:org/modules", { org })} />
							<Versions place={{ org, module, reload: found.reload }} />
							<ModuleRepository module={module} />
							{text(module, "registry-name") === "private" && may(module, "can-delete") && (
								<NoCodeSettings org={org} module={module} reload={found.reload} />
							)}
							<Uses org={org} module={module} />
							<Described module={module} />
							{isOwn(org, module) && <ModuleDeletion org={org} module={module} />}
						</>
					)
				}
			</Content>
		</>
	);
}
