// SPDX-License-Identifier: MPL-2.0
// What those who manage modules do to a module and its versions: new versions, marks, deletion.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { DeleteNamed } from "../../components/delete_named.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { partLoad } from "../../core/part.ts";
import { linkOf, list, may, object, type Resource, text, textIn } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { isOwn } from "../../objects/tag_search.ts";
import { type Marking, markingsOf, marks } from "./marks.ts";
import { manageReason, pathOf, type Version } from "./module_words.ts";

export type Place = { readonly org: string; readonly module: Resource; readonly reload: () => Promise<void> };

type Parts = typeof import("./version_dialogs.tsx");

// The part with the dialogs, while one of them is open.
function useParts() {
	const [parts, setParts] = useState<Parts | undefined>();
	const open = async () => setParts(await partLoad(() => import("./version_dialogs.tsx")));
	return { parts, open, close: () => setParts(undefined) };
}

// New Version, or how versions come about. Nothing in an organization that only uses the module.
export function NewVersion({ place }: { readonly place: Place }) {
	const { org, module, reload } = place;
	const { parts, open, close } = useParts();
	const mechanism = text(module, "publishing-mechanism");
	if (text(module, "registry-name") !== "private" || !isOwn(org, module)) {
		return null;
	}
	if (mechanism === "git_tag") {
		return (
			<p class="muted">{`Each tag of the repository such as ${textIn(object(module, "vcs-repo"), "tag-prefix")}v1.2.3 publishes a version.`}</p>
		);
	}
	const Form = mechanism === "branch" ? parts?.CommitDialog : parts?.UploadDialog;
	return (
		<>
			<Button reason={manageReason(may(module, "can-delete"))} onPress={open}>
				New Version
			</Button>
			{Form && <Form org={org} module={module} onDone={reload} onClose={close} />}
		</>
	);
}

function MarkButton({ place, version, what }: { readonly place: Place; readonly version: Version; readonly what: Marking }) {
	const { parts, open, close } = useParts();
	const { word } = marks[what];
	return (
		<>
			<Button label={`${word} version ${version.version}`} onPress={open}>
				{word}
			</Button>
			{parts && (
				<parts.MarkDialog org={place.org} module={place.module} what={what} version={version} onDone={place.reload} onClose={close} />
			)}
		</>
	);
}

function UploadButton({ place, version }: { readonly place: Place; readonly version: string }) {
	const { parts, open, close } = useParts();
	return (
		<>
			<Button label={`Upload version ${version}`} onPress={open}>
				Upload
			</Button>
			{parts && <parts.UploadDialog org={place.org} module={place.module} version={version} onDone={place.reload} onClose={close} />}
		</>
	);
}

// The buttons in a version's row.
export function VersionActions({ place, version }: { readonly place: Place; readonly version: Version }) {
	const { org, module, reload } = place;
	const name = version.version;
	const takesFiles = !text(module, "publishing-mechanism") && ["pending", "reg_ingress_failed"].includes(version.status);
	const isLast = list(module, "version-statuses").length === 1;
	const gone = () => (isLast ? navigate(pathTo("/app/:org/modules", { org })) : reload());
	return (
		<span class="cell-actions">
			{takesFiles && <UploadButton place={place} version={name} />}
			{markingsOf(version).map((what) => (
				<MarkButton key={what} place={place} version={version} what={what} />
			))}
			<DeleteNamed word="version" name={name} url={address(`${pathOf(org, module)}/${segment(name)}`)} reason={undefined} onDone={gone}>
				Configurations that need it can't install it any more. {isLast && "It is the only version, so the module is deleted with it."}
			</DeleteNamed>
		</span>
	);
}

// The deletion of a module, and of all modules of its name if there are several.
export function ModuleDeletion({ org, module }: { readonly org: string; readonly module: Resource }) {
	const name = text(module, "name");
	const registry = text(module, "registry-name");
	const able = may(module, "can-delete");
	const found = useDocument(
		able
			? address(`/organizations/${segment(org)}/registry-modules`, { q: name, "filter[registry_name]": registry, "page[size]": 100 })
			: undefined,
	);
	const of = (item: Resource) => `${linkOf(item, "organization")?.id} ${text(item, "namespace")}/${text(item, "name")}`.toLowerCase();
	const same = found.items.filter((item) => of(item) === of(module));
	const path = pathOf(org, module);
	const props = { name, reason: manageReason(able), onDone: () => navigate(pathTo("/app/:org/modules", { org })) };
	const loss = registry === "public" ? "The list no longer shows it." : "Configurations that call it can't install it any more.";
	return (
		<section aria-labelledby="deletion">
			<h2 id="deletion">Delete module</h2>
			<p>{`The module of the provider ${text(module, "provider")}${registry === "public" ? "" : ", with all its versions"}.`}</p>
			<p>
				<DeleteNamed word="module" url={address(path)} {...props}>
					{loss}
				</DeleteNamed>
			</p>
			{same.length > 1 && (
				<>
					<p>{`All ${same.length} modules of the name ${name}: those of ${same.map((item) => text(item, "provider")).join(", ")}.`}</p>
					<p>
						<DeleteNamed word="all modules" url={address(path.slice(0, path.lastIndexOf("/")))} {...props}>
							{loss}
						</DeleteNamed>
					</p>
				</>
			)}
		</section>
	);
}
