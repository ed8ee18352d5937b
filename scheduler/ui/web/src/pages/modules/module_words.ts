// SPDX-License-Identifier: MPL-2.0
// What the registry says of a module and its versions.

import { segment } from "../../core/api.ts";
import { listIn, type Members, membersOf, object, type Resource, text, textIn } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

export const pollMs = 2000; // while a module changes

export type Version = {
	readonly version: string;
	readonly status: string; // of the registry
	readonly tone: Tone;
	readonly word: string;
	readonly note: string; // why it failed, should not be used, or has not the commit of its tag
	readonly link: string; // of a revocation or a deprecation, or ""
	readonly testRun: string; // of its content, or ""
	readonly testsFailed: boolean; // they have to pass before it is published
};

// Why modules can't be managed; undefined: they can.
export const manageReason = (able: boolean) => (able ? undefined : "you need the permission to manage modules");

// The path of the module in its organization.
export function pathOf(org: string, module: Resource): string {
	const parts = ["registry-name", "namespace", "name", "provider"].map((part) => segment(text(module, part)));
	return `/organizations/${segment(org)}/registry-modules/${parts.join("/")}`;
}

const statuses: Readonly<Record<string, readonly [Tone, string]>> = {
	pending: ["muted", "Waiting for its files"],
	cloning: ["running", "Fetching"],
	clone_failed: ["failure", "Fetch failed"],
	reg_ingressing: ["running", "Waiting for its tests"],
	reg_ingress_failed: ["failure", "Upload refused"],
	ok: ["success", "Usable"],
};

function versionOf(item: Members): Version {
	const deprecation = membersOf(item.deprecation);
	const revocation = membersOf(item.revocation);
	const status = textIn(item, "status");
	const testsFailed = item["tests-failed"] === true;
	const [tone, word] = testsFailed ? (["failure", "Tests failed"] as const) : (statuses[status] ?? (["muted", status] as const));
	const made = {
		version: textIn(item, "version"),
		status,
		tone,
		word,
		note: textIn(item, "error"),
		link: textIn(revocation, "link") || textIn(deprecation, "link"),
		testRun: textIn(item, "test-run"),
		testsFailed,
	};
	if (item.revoked === true) {
		return { ...made, tone: "failure", word: "Revoked", note: textIn(revocation, "message") || textIn(deprecation, "reason") };
	}
	return item.deprecation ? { ...made, tone: "wait", word: "Deprecated", note: textIn(deprecation, "reason") } : made;
}

export function versionsOf(module: Resource): readonly Version[] {
	return listIn(module.attributes["version-statuses"]).map(versionOf);
}

// Whether the version is on its way, so that its status will change.
const isUnderway = ({ status }: Version) => ["pending", "cloning", "reg_ingressing"].includes(status);

// Whether the module will change by itself: a version of it is on its way, or its repository has not been looked at yet.
export function isChanging(module: Resource): boolean {
	const isNew = text(module, "status") === "pending" && text(module, "publishing-mechanism") === "git_tag";
	return isNew || versionsOf(module).some(isUnderway);
}

// The newest version to use: one that is no prerelease, or else the newest.
export function latestOf(versions: readonly Version[]): string {
	const usable = versions.filter(({ word }) => word === "Usable").map(({ version }) => version);
	return usable.find((version) => !version.split("+")[0]?.includes("-")) ?? usable[0] ?? "";
}

const setups: Readonly<Record<string, readonly [Tone, string]>> = {
	setup_complete: ["success", "Usable"],
	setup_failed: ["failure", "Setup failed"],
	no_version_tags: ["wait", "No version tags"],
	pending: ["muted", "No version yet"],
};

export function setupOf(module: Resource): readonly [Tone, string] {
	return setups[text(module, "status")] ?? ["muted", text(module, "status")];
}

export function publishedOf(module: Resource): string {
	const repository = object(module, "vcs-repo");
	const folder = textIn(repository, "source-directory");
	const of = (folder ? `the folder ${folder} of ` : "") + (textIn(repository, "identifier") || "a repository");
	const prefix = textIn(repository, "tag-prefix");
	switch (text(module, "publishing-mechanism")) {
		case "git_tag":
			return `From the tags ${prefix ? `${prefix}* ` : ""}of ${of}`;
		case "branch":
			return textIn(repository, "branch") ? `From the branch ${textIn(repository, "branch")} of ${of}` : `From a branch of ${of}`;
		default:
			return "By upload";
	}
}

// The address by which configurations call the module. That of the public registry has no host.
export function addressOf(module: Resource, host: string): string {
	const place = text(module, "registry-name") === "public" ? "" : `${host}/`;
	return place + ["namespace", "name", "provider"].map((name) => text(module, name)).join("/");
}

// The block by which a configuration calls the module.
export function usageOf(module: Resource, host: string, version: string): string {
	const line = version ? `\n  version = "${version}"` : "";
	return `module "${text(module, "name")}" {\n  source  = "${addressOf(module, host)}"${line}\n}`;
}
