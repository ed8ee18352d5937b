// SPDX-License-Identifier: MPL-2.0
// Where the policies of a set come from: single policies, an uploaded archive, or a repository.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { TextLink } from "../../components/safe_link.tsx";
import { address, change, segment } from "../../core/api.ts";
import { flag, object, type Resource, text, textIn, texts } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { Sha } from "../../vcs/commit_line.tsx";
import { repositoryOf } from "../../vcs/repository.ts";
import { ConnectionField } from "./connection_field.tsx";
import { RepositoryField } from "./repository_field.tsx";
import { connectionSent, lines } from "./repository_form.ts";

const at = (name: string) => `/data/attributes/${name}`;
const pointers = {
	connection: at("vcs-repo/oauth-token-id"),
	identifier: at("vcs-repo/identifier"),
	branch: at("vcs-repo/branch"),
	path: at("policies-path"),
	patterns: at("policy-update-patterns"),
};

type Props = { readonly org: string; readonly set: Resource; readonly reason: string | undefined; readonly onDone: () => Promise<void> };

function save(set: Resource, attributes: object): Promise<unknown> {
	return change("PATCH", address(`/policy-sets/${segment(set.id)}`), { data: { type: "policy-sets", attributes } });
}

export function PolicySource({ org, set, reason, onDone }: Props) {
	const [asked, setAsked] = useState<"" | "connect" | "disconnect">("");
	const { identifier, branch, href } = repositoryOf(set);
	const close = () => setAsked("");
	return (
		<section aria-label="Source">
			<h3>Source</h3>
			{identifier ? (
				<p>
					The policies are in{" "}
					<TextLink href={href}>
						<bdi>{identifier}</bdi>
					</TextLink>
					, {branch ? "branch " : "default branch"}
					<bdi>{branch}</bdi>
					{text(set, "policies-path") && (
						<>
							, folder <bdi>{text(set, "policies-path")}</bdi>
						</>
					)}
					. A push makes a new version.
				</p>
			) : (
				!flag(set, "versioned") && <p>The set has the single policies that are listed below.</p>
			)}
			{flag(set, "versioned") && <Version set={set} fromCommit={identifier !== ""} />}
			<div class="actions">
				<Button reason={reason} onPress={() => setAsked("connect")}>
					{identifier ? "Change repository" : "Use a repository"}
				</Button>
				{identifier && (
					<Button reason={reason} onPress={() => setAsked("disconnect")}>
						Disconnect repository
					</Button>
				)}
			</div>
			{asked === "connect" && <SourceDialog org={org} set={set} onDone={onDone} onClose={close} />}
			{asked === "disconnect" && (
				<Dialog
					title="Disconnect repository"
					confirm="Disconnect"
					danger
					onConfirm={async () => {
						await save(set, { "vcs-repo": null, "policy-update-patterns": [] });
						announce("The repository is disconnected");
						await onDone();
					}}
					onClose={close}
				>
					<p>The set keeps its newest version, and pushes change it no more.</p>
				</Dialog>
			)}
		</section>
	);
}

// The newest version, which may have failed: then the current one stays in use.
function Version({ set, fromCommit }: { readonly set: Resource; readonly fromCommit: boolean }) {
	const version = store.one(set, "newest-version");
	const commit = object(version, "ingress-attributes");
	const sha = textIn(commit, "commit-sha");
	const error = text(version, "error-message");
	return (
		<>
			<p class="note neutral">
				{fromCommit ? "Newest version" : "The policies are in an uploaded archive"}: {text(version, "status") || "none yet"}{" "}
				{sha && (
					<>
						from commit <Sha sha={sha} href={textIn(commit, "commit-url")} />
					</>
				)}
			</p>
			{error && (
				<p class="note failure">
					<bdi>{error}</bdi>
				</p>
			)}
		</>
	);
}

type DialogProps = { readonly org: string; readonly set: Resource; readonly onDone: () => Promise<void>; readonly onClose: () => void };

function SourceDialog({ org, set, onDone, onClose }: DialogProps) {
	const now = repositoryOf(set);
	const [connection, setConnection] = useState(now.connection);
	const [identifier, setIdentifier] = useState(now.identifier);
	const [branch, setBranch] = useState(now.branch);
	const [path, setPath] = useState(text(set, "policies-path"));
	const [patterns, setPatterns] = useState(texts(set, "policy-update-patterns").join("\n"));
	const [submodules, setSubmodules] = useState(now.submodules);
	const submit = async () => {
		await save(set, {
			"policies-path": path.trim(),
			"policy-update-patterns": lines(patterns.split("\n")),
			"vcs-repo": {
				...connectionSent(connection),
				identifier: identifier.trim(),
				branch: branch.trim(),
				"ingress-submodules": submodules,
			},
		});
		announce("The repository is connected");
		await onDone();
	};
	return (
		<Dialog
			title="Policies from a repository"
			confirm="Save"
			reason={connection ? (identifier.trim() ? undefined : "choose a repository") : "choose a connection"}
			fields={Object.values(pointers)}
			onConfirm={submit}
			onClose={onClose}
		>
			{(error) => (
				<>
					<ConnectionField org={org} value={connection} error={error} pointer={pointers.connection} onValue={setConnection} />
					<RepositoryField token={connection} value={identifier} error={error} pointer={pointers.identifier} onValue={setIdentifier} />
					<TextField
						label="Branch"
						hint="Empty: the default branch."
						error={error}
						pointer={pointers.branch}
						value={branch}
						onValue={setBranch}
					/>
					<TextField
						label="Policies path"
						hint="The folder with the policies. Empty: the root of the repository."
						error={error}
						pointer={pointers.path}
						value={path}
						onValue={setPath}
					/>
					<TextField
						label="Update patterns"
						lines={3}
						hint="One on each line. Pushes that change no such file and nothing in the folder make no version."
						error={error}
						pointer={pointers.patterns}
						value={patterns}
						onValue={setPatterns}
					/>
					<CheckField label="Fetch submodules" checked={submodules} onChecked={setSubmodules} />
				</>
			)}
		</Dialog>
	);
}
