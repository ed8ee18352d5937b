// SPDX-License-Identifier: MPL-2.0
// Where the policies of a set come from: single policies, an uploaded archive, or a repository.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SaidNote } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { TextLink } from "../../components/safe_link.tsx";
import { address, change, segment } from "../../core/api.ts";
import { flag, object, type Resource, text, textIn, texts } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import { Sha } from "../../vcs/commit_line.tsx";
import { repositoryOf } from "../../vcs/repository.ts";
import { useSourceFields } from "./repository_fields.tsx";
import { connectionSent, lines } from "./repository_form.ts";

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
			<SaidNote tone="failure">{text(version, "error-message")}</SaidNote>
		</>
	);
}

type DialogProps = { readonly org: string; readonly set: Resource; readonly onDone: () => Promise<void>; readonly onClose: () => void };

function SourceDialog({ org, set, onDone, onClose }: DialogProps) {
	const now = repositoryOf(set);
	const [values, setValues] = useState({
		...now,
		path: text(set, "policies-path"),
		patterns: texts(set, "policy-update-patterns"),
	});
	const fields: readonly FieldRow[] = [
		...useSourceFields(org, undefined, values, now.identifier),
		{
			name: "path",
			label: "Policies path",
			kind: "text",
			pointer: "policies-path",
			hint: "The folder with the policies. Empty: the root of the repository.",
		},
		{
			name: "patterns",
			label: "Update patterns",
			kind: "list",
			pointer: "policy-update-patterns",
			hint: "One on each line. Pushes that change no such file and nothing in the folder make no version.",
		},
		{ name: "submodules", label: "Fetch submodules", kind: "flag" },
	];
	const submit = async () => {
		await save(set, {
			"policies-path": values.path.trim(),
			"policy-update-patterns": lines(values.patterns),
			"vcs-repo": {
				...connectionSent(values.connection),
				identifier: values.identifier.trim(),
				branch: values.branch.trim(),
				"ingress-submodules": values.submodules,
			},
		});
		announce("The repository is connected");
		await onDone();
	};
	return (
		<Dialog
			title="Policies from a repository"
			confirm="Save"
			reason={values.connection ? (values.identifier.trim() ? undefined : "choose a repository") : "choose a connection"}
			fields={pointersOf(fields)}
			onConfirm={submit}
			onClose={onClose}
		>
			{(error) => (
				<ObjectFields
					fields={fields}
					values={values}
					error={error}
					onValue={(name, value) => setValues((before) => ({ ...before, [name]: value }))}
				/>
			)}
		</Dialog>
	);
}
