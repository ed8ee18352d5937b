// SPDX-License-Identifier: MPL-2.0
import { Button, DialogButton } from "../../components/button.tsx";
import { CopyId, copyText } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SaidNote } from "../../components/error_panel.tsx";
import { Fact } from "../../components/fact.tsx";
import { announce } from "../../components/live_region.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import type { Tone } from "../../core/status.ts";

const words: Readonly<Record<string, readonly [Tone, string]>> = {
	verified: ["success", "Found"],
	unverified: ["wait", "Unverified"],
	errored: ["failure", "Errored"],
};

export function RepositoryState({ repository }: { readonly repository: Resource }) {
	const [tone, word] = words[text(repository, "state")] ?? ["muted", text(repository, "state")];
	return <Mark tone={tone}>{word}</Mark>;
}

// Whether the repository was found, when it was looked at last, and why that failed.
export function RepositoryLooks({ repository }: { readonly repository: Resource }) {
	const looked = repository.attributes["looked-at"];
	return (
		<>
			<dl class="facts">
				<Fact word="State">
					<RepositoryState repository={repository} />
				</Fact>
				<Fact word="Default branch">
					{text(repository, "default-branch") ? <bdi>{text(repository, "default-branch")}</bdi> : <span class="muted">Not known yet</span>}
				</Fact>
				<Fact word="Last look">{looked ? <TimeAgo time={looked} /> : <span class="muted">None has succeeded yet</span>}</Fact>
				{text(repository, "look-due") && (
					<Fact word="Next look">
						<TimeAgo time={repository.attributes["look-due"]} />
					</Fact>
				)}
			</dl>
			<SaidNote tone="failure">{text(repository, "error")}</SaidNote>
			<SaidNote tone="wait">{text(repository, "look-error")}</SaidNote>
		</>
	);
}

type HookProps = { readonly repository: Resource; readonly onDone: () => Promise<void> };

// The webhook: made by this site, or its address and secret for the person who makes it.
export function RepositoryHook({ repository, onDone }: HookProps) {
	const isMade = repository.attributes["hook-made"] === true;
	if (linkOf(repository, "github-app-installation")) {
		return <p>The GitHub App sends each push, tag and pull request to this site.</p>;
	}
	if (!text(repository, "webhook-url")) {
		return (
			<p>
				This provider has no webhooks. The repository is checked every few minutes; <strong>Check now</strong> checks it at once.
			</p>
		);
	}
	return (
		<>
			{isMade ? (
				<p>
					<Mark tone="success">Made</Mark> The provider sends each push, tag and pull request to this site.
				</p>
			) : (
				<HookToMake repository={repository} />
			)}
			{text(repository, "webhook-secret") && <HookSecret repository={repository} isMade={isMade} onDone={onDone} />}
		</>
	);
}

function HookToMake({ repository }: { readonly repository: Resource }) {
	const url = text(repository, "webhook-url");
	const secret = text(repository, "webhook-secret");
	return (
		<>
			<p>
				<Mark tone="wait">Not made</Mark> Commits are found by a look every few minutes.
			</p>
			<SaidNote tone="wait">{text(repository, "hook-error")}</SaidNote>
			<p>For runs without that delay, create a webhook for pushes, tags and pull requests at the provider, with content type JSON:</p>
			<dl class="facts">
				<Fact word="URL">
					<CopyId id={url} />
				</Fact>
				{secret && (
					<Fact word="Secret">
						<Button onPress={() => copyText(secret)}>Copy secret</Button>
					</Fact>
				)}
			</dl>
		</>
	);
}

// Shows the age of the secret, and replaces it. The API sends secrets only to users with the permission to manage VCS settings.
function HookSecret({ repository, isMade, onDone }: HookProps & { readonly isMade: boolean }) {
	const previous = repository.attributes["hook-previous-until"];
	const rotate = async () => {
		await change("POST", address(`/vcs-repositories/${segment(repository.id)}/actions/rotate-hook-secret`));
		announce("The webhook has a new secret");
		await onDone();
	};
	return (
		<>
			{typeof previous === "string" && (
				<p>
					The secret is new. The previous one is accepted until <TimeAgo time={previous} />.
				</p>
			)}
			<DialogButton
				dialog={(close) => (
					<Dialog title="Replace the webhook's secret" confirm="Replace" onConfirm={rotate} onClose={close}>
						<p>
							{isMade
								? "The site sends the new secret to the provider."
								: "Enter the new secret at the provider within a day. Until then, the previous one is also accepted."}
						</p>
					</Dialog>
				)}
			>
				Replace secret
			</DialogButton>
		</>
	);
}
