// SPDX-License-Identifier: MPL-2.0
import { SafeLink, TextLink } from "../components/safe_link.tsx";
import { pathTo } from "../core/router.ts";
import { type Commit, type CommitRef, refWords, shortSha } from "./commit.ts";

type ShaProps = { readonly sha: string; readonly href: string; readonly above?: boolean };

// The short SHA, which leads to the commit at its provider.
export function Sha({ sha, href, above = false }: ShaProps) {
	const short = <code title={sha}>{shortSha(sha)}</code>;
	return (
		<TextLink href={href} above={above} label={`Commit ${shortSha(sha)}`}>
			{short}
		</TextLink>
	);
}

// The branch, tag or pull request. A pull request leads to its page at the provider.
export function Ref({ of, above = false }: { readonly of: CommitRef; readonly above?: boolean }) {
	return (
		<TextLink href={of.href} above={above} label={refWords(of)}>
			{of.kind !== "branch" && `${of.kind} `}
			<bdi>{of.name}</bdi>
		</TextLink>
	);
}

// The commit of a run in a list: its SHA, where it comes from, and who sent it.
export function CommitLine({ commit }: { readonly commit: Commit }) {
	return (
		<div class="commit-line muted">
			<Sha sha={commit.sha} href={commit.href} above />
			{commit.ref && <Ref of={commit.ref} above />}
			{commit.sender && <bdi>{commit.sender}</bdi>}
		</div>
	);
}

// How a run of the commit was triggered, after its time and user.
export function CommitTrigger({ commit, byUser }: { readonly commit: Commit; readonly byUser: boolean }) {
	const { ref, sender, senderHref } = commit;
	return (
		<>
			by a commit
			{ref && (
				<>
					{" "}
					{ref.kind === "branch" ? "to branch" : ref.kind === "tag" ? "with the" : "of"} <Ref of={ref} />
				</>
			)}
			{!byUser && sender && (
				<>
					{" "}
					from{" "}
					<strong>
						<bdi>
							<TextLink href={senderHref}>{sender}</TextLink>
						</bdi>
					</strong>
				</>
			)}
		</>
	);
}

// The commit with its message, in the facts of a run.
export function CommitFacts({ org, commit }: { readonly org: string; readonly commit: Commit }) {
	return (
		<>
			<Sha sha={commit.sha} href={commit.href} /> <bdi class="commit-subject">{commit.title || commit.subject}</bdi>{" "}
			<span class="muted">
				in <bdi>{commit.repository}</bdi>
			</span>{" "}
			<SafeLink href={commit.compare}>Changes of the code</SafeLink>{" "}
			{org && commit.event && <a href={pathTo("/app/:org/vcs/events/:event", { org, event: commit.event })}>VCS event</a>}
		</>
	);
}
