// SPDX-License-Identifier: MPL-2.0
// New modules and versions: the fields of the forms, and the bodies of the requests.

import { firstLine } from "../../../core/format.ts";
import { type Resource, text } from "../../../core/resource.ts";
import type { FieldRow, Options, Values } from "../../../objects/fields.ts";
import { shortSha } from "../../../vcs/commit.ts";
import { connectionSent } from "../../vcs/repository_form.ts";

export const word = (values: Values, name: string): string => String(values[name] ?? "").trim();

export const addressFields: readonly FieldRow[] = [
	{ name: "name", label: "Name", kind: "text", longest: 64, hint: "Such as network: letters, digits, and - and _ between them." },
	{ name: "provider", label: "Provider", kind: "text", longest: 64, hint: "Such as aws: lowercase letters and digits." },
];

export const versionField: FieldRow = {
	name: "version",
	label: "Version",
	kind: "text",
	longest: 128,
	hint: "A semantic version, such as 1.2.3 or 1.2.3-beta.1.",
};

// Whether a module may be created for the version. The scheduler decides; this keeps a typing error from leaving a module without versions.
const shape = /^\d+\.\d+\.\d+(-[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?(\+[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?$/;
export const isVersion = (version: string) => shape.test(version);

const maxArchive = 100 << 20; // bytes

// Why the file can't be uploaded; undefined: it can.
export function fileReason(file: { readonly size: number } | undefined): string | undefined {
	if (!file) {
		return "choose the files";
	}
	return file.size > maxArchive ? "the archive has more than 100 MiB" : undefined;
}

// ---- a module of a repository ----

const ways: Options = [
	["tags", "Tags: each one that is a semantic version"],
	["branch", "A branch: versions of its commits, which you request"],
];

const byTags = (values: Values) => values.way !== "branch";
const byBranch = (values: Values) => values.way === "branch";

// The fields beside those of the repository.
export const partFields: readonly FieldRow[] = [
	{ name: "way", label: "Versions", kind: "choice", options: ways, initial: "tags" },
	{
		name: "tag-prefix",
		label: "Tag prefix",
		kind: "text",
		longest: 128,
		pointer: "vcs-repo/tag-prefix",
		hint: "For a repository of several modules: with app-, the tag app-1.2.3 is the version 1.2.3.",
		shown: byTags,
	},
	{ name: "branch", label: "Branch", kind: "text", pointer: "vcs-repo/branch", shown: byBranch },
	{
		name: "initial-version",
		label: "Initial version",
		kind: "text",
		longest: 128,
		hint: "Of the branch's newest commit. Empty: 0.0.0.",
		shown: byBranch,
	},
	{
		name: "source-directory",
		label: "Folder",
		kind: "text",
		pointer: "vcs-repo/source-directory",
		hint: "Of the module in the repository, such as modules/network. Empty: its root.",
	},
	...addressFields,
];

// The name and the provider in the name of a repository terraform-PROVIDER-NAME.
export function partsOf(identifier: string): { readonly name: string; readonly provider: string } | undefined {
	const last = identifier.trim().split("/").at(-1) ?? "";
	const found = /^terraform-([^-]+)-(.+?)(\.git)?$/.exec(last);
	return found ? { provider: found[1] ?? "", name: found[2] ?? "" } : undefined;
}

export function repositoryBody(values: Values) {
	const given = (name: string) => (word(values, name) ? { [name]: word(values, name) } : {});
	const source = byTags(values) ? { tags: true, ...given("tag-prefix") } : { tags: false, ...given("branch") };
	const attributes = {
		...given("name"),
		...given("provider"),
		...(byBranch(values) ? given("initial-version") : {}),
		"vcs-repo": {
			...connectionSent(word(values, "connection")),
			identifier: word(values, "identifier"),
			...source,
			...given("source-directory"),
		},
	};
	return { data: { type: "registry-modules", attributes } };
}

// ---- what is missing ----

const reasons: readonly (readonly [name: string, reason: string])[] = [
	["connection", "choose a connection"],
	["identifier", "choose a repository"],
	["branch", "enter the branch"],
	["name", "enter the name of the module"],
	["provider", "enter its provider"],
	["version", "enter a version"],
];

const mayBeEmpty = (name: string) => !reasons.some(([wanted]) => wanted === name);

// Why the values of the fields can't be sent yet; undefined: they can.
export function missingOf(fields: readonly FieldRow[], values: Values): string | undefined {
	const blank = fields.find((field) => !mayBeEmpty(field.name) && (field.shown?.(values) ?? true) && !word(values, field.name));
	return reasons.find(([name]) => name === blank?.name)?.[1];
}

// ---- a version of a branch ----

// The commits to choose from; "": the newest of the branch, whichever it is then.
export function commitField(branch: string, commits: readonly Resource[], problem: string): FieldRow {
	const known = commits.map((commit) => [commit.id, `${shortSha(commit.id)} ${firstLine(text(commit, "message"))}`] as const);
	return {
		name: "commit-sha",
		label: "Commit",
		kind: "choice",
		options: [["", `The newest commit of ${branch}`], ...known],
		...(problem && { hint: `Older commits can't be listed: ${problem}` }),
	};
}

export function versionBody(values: Values) {
	const commit = word(values, "commit-sha");
	const attributes = { version: word(values, "version"), ...(commit && { "commit-sha": commit }) };
	return { data: { type: "registry-module-versions", attributes } };
}
