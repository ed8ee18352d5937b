// SPDX-License-Identifier: MPL-2.0
// The commit of a configuration version, as its ingress attributes say. All texts come from the provider.

import { firstLine } from "../core/format.ts";
import { flag, linkOf, number, type Resource, text } from "../core/resource.ts";
import { store } from "../core/store.ts";

// What made the commit known: a push to a branch, a tag, or a pull request.
export type CommitRef = { readonly kind: "branch" | "tag" | "pull request"; readonly name: string; readonly href: string };

export type Commit = NonNullable<ReturnType<typeof commitFrom>>;

// shortSha: the first digits of a commit's SHA.
export function shortSha(sha: string): string {
	return sha.slice(0, 7);
}

function refOf(ingress: Resource): CommitRef | undefined {
	const pull = number(ingress, "pull-request-number");
	if (pull) {
		return { kind: "pull request", name: `#${pull}`, href: text(ingress, "pull-request-url") };
	}
	const tag = text(ingress, "tag");
	const branch = text(ingress, "branch");
	return tag ? { kind: "tag", name: tag, href: "" } : branch ? { kind: "branch", name: branch, href: "" } : undefined;
}

// commitFrom: undefined if the object names no commit.
export function commitFrom(ingress: Resource | undefined) {
	const sha = text(ingress, "commit-sha");
	if (!ingress || !sha) {
		return undefined;
	}
	const message = text(ingress, "commit-message");
	return {
		sha,
		href: text(ingress, "commit-url"), // of the provider; "": not known
		ref: refOf(ingress),
		subject: firstLine(message),
		message: message.trim(),
		repository: text(ingress, "identifier"),
		compare: text(ingress, "compare-url"), // the address of the changes
		sender: text(ingress, "sender-username"), // who pushed it or opened the pull request
		senderHref: text(ingress, "sender-html-url"),
		title: flag(ingress, "is-pull-request") ? text(ingress, "pull-request-title") : "",
		event: linkOf(ingress, "vcs-event")?.id ?? "", // that brought it; "": not known any more
	};
}

// commitOf: the commit of a run whose document includes configuration_version.ingress_attributes.
export function commitOf(run: Resource | undefined): Commit | undefined {
	return commitFrom(store.one(store.one(run, "configuration-version"), "ingress-attributes"));
}

// refWords: "branch main", "tag v1", "pull request #3".
export function refWords(ref: CommitRef): string {
	return `${ref.kind} ${ref.name}`;
}
