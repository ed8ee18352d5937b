// SPDX-License-Identifier: MPL-2.0
import { CopyButton } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { SafeLink } from "../../components/safe_link.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { object, type Resource, text, textIn } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { latestOf, setupOf, usageOf, type Version, versionsOf } from "./module_words.ts";

const columns: readonly Column<Version>[] = [
	{ key: "version", head: "Version", cell: ({ version }) => <strong>{version}</strong> },
	{ key: "state", head: "State", class: "tight", cell: ({ tone, word }) => <Mark tone={tone}>{word}</Mark> },
	{
		key: "note",
		head: "Note",
		cell: ({ version, note, link }) => (
			<>
				<bdi>{note}</bdi>{" "}
				<SafeLink href={link} label={`More about version ${version}`}>
					More
				</SafeLink>
			</>
		),
	},
];

function Versions({ module }: { readonly module: Resource }) {
	const versions = versionsOf(module);
	return (
		<section aria-labelledby="versions">
			<h2 id="versions">Versions</h2>
			{versions.length > 0 ? (
				<PlainTable caption="Versions" columns={columns} rows={versions} keyOf={({ version }) => version} />
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

function Facts({ module }: { readonly module: Resource }) {
	const [tone, word] = setupOf(module);
	const repository = textIn(object(module, "vcs-repo"), "identifier");
	return (
		<dl class="facts">
			<Fact word="State">
				<Mark tone={tone}>{word}</Mark>
			</Fact>
			<Fact word="Provider">{text(module, "provider")}</Fact>
			<Fact word="Namespace">{text(module, "namespace")}</Fact>
			<Fact word="Published">
				{text(module, "publishing-mechanism") === "git_tag" ? <bdi>{`From the tags of ${repository || "a repository"}`}</bdi> : "By upload"}
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
							<h1 tabIndex={-1}>{name}</h1>
							<Facts module={module} />
							<Usage module={module} />
							<Versions module={module} />
						</>
					)
				}
			</Content>
		</>
	);
}
