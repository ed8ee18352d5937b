// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { Content } from "../../components/states.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { may, type Resource } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { useTitle } from "../../core/title.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import { sections } from "./sections.ts";

export type OrganizationView = {
	readonly org: string;
	readonly path: string; // of the organization in the API
	readonly organization: Resource;
	readonly may: (right: string) => boolean;
};

type Props = {
	readonly params: PageProps["params"];
	readonly section: string;
	readonly intro?: ComponentChildren;
	readonly children: (view: OrganizationView) => ComponentChildren;
};

function Links({
	org,
	section,
	organization,
}: {
	readonly org: string;
	readonly section: string;
	readonly organization: Resource | undefined;
}) {
	return (
		<nav class="settings-nav" aria-label="Settings">
			{sections
				.filter(({ key, right }) => !right || key === section || may(organization, right))
				.map(({ key, word }) => (
					<a key={key} href={`${pathTo("/app/:org/settings", { org })}/${key}`} aria-current={key === section ? "page" : undefined}>
						{word}
					</a>
				))}
		</nav>
	);
}

// The settings of an organization: the list of pages at the side, or above where there is no room.
export function SettingsFrame({ params, section, intro, children }: Props) {
	const org = params.org ?? "";
	const path = `/organizations/${segment(org)}`;
	const of = useDocument(address(path));
	const word = sections.find(({ key }) => key === section)?.word ?? section;
	useTitle([word, "Settings", org]);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Settings", href: `${pathTo("/app/:org/settings", { org })}/general` },
					{ word },
				]}
			/>
			<div class="settings">
				<Links org={org} section={section} organization={of.item} />
				<div class="settings-body">
					<h1 tabIndex={-1}>{word}</h1>
					{intro && <p>{intro}</p>}
					<Content of={of}>{() => of.item && children({ org, path, organization: of.item, may: (right) => may(of.item, right) })}</Content>
				</div>
			</div>
		</>
	);
}

// without: why a control is disabled for those who lack the right.
export function without(view: OrganizationView, right: string, what: string): string | undefined {
	return view.may(right) ? undefined : `you need the permission to ${what}`;
}
