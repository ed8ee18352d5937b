// SPDX-License-Identifier: MPL-2.0
// The dialogs of a module's versions: a new one, its files, and marks that keep it from use. They load when they are opened.

import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { object, type Resource, text, textIn } from "../../core/resource.ts";
import { type FieldRow, valuesOf } from "../../objects/fields.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import { useTyped } from "../../objects/use_typed.ts";
import { type Marking, markBody, markFields, marks } from "./marks.ts";
import { pathOf, type Version } from "./module_words.ts";
import { ArchiveField } from "./publish/publish_fields.tsx";
import { commitField, fileReason, missingOf, versionBody, versionField, word } from "./publish/publish_form.ts";
import { filePointer, versionUpload } from "./publish/upload.ts";

type Props = {
	readonly org: string;
	readonly module: Resource;
	readonly onDone: () => Promise<unknown>;
	readonly onClose: () => void;
};

// The values of the fields, and their controls.
function useForm(fields: readonly FieldRow[]) {
	const [typed, onValue] = useTyped();
	const values = { ...valuesOf(fields, undefined), ...typed };
	const controls = (error: ApiError | undefined) => <ObjectFields fields={fields} values={values} error={error} onValue={onValue} />;
	return { values, controls };
}

type UploadProps = Props & { readonly version?: string }; // that exists and has no files

export function UploadDialog({ org, module, version, onDone, onClose }: UploadProps) {
	const [made, setMade] = useState(version);
	const [file, setFile] = useState<File | undefined>();
	const fields = made ? [] : [versionField];
	const { values, controls } = useForm(fields);
	const path = pathOf(org, module);
	const publish = async () => {
		const name = made ?? word(values, "version");
		if (!made) {
			await change("POST", address(`${path}/versions`), versionBody(values));
			setMade(name); // another try uploads to this one
		}
		try {
			await versionUpload(path, name, file as File);
			announce(`Version ${name} uploaded`);
		} finally {
			await onDone();
		}
	};
	return (
		<Dialog
			title={version ? `Upload version ${version}` : "New version"}
			confirm="Publish"
			reason={missingOf(fields, values) ?? fileReason(file)}
			fields={[...pointersOf(fields), filePointer]}
			onConfirm={publish}
			onClose={onClose}
		>
			{(error) => (
				<>
					{!version && made && <p class="note wait">{`Version ${made} exists now, and has no files yet.`}</p>}
					{controls(error)}
					<ArchiveField error={error} onFile={setFile} />
				</>
			)}
		</Dialog>
	);
}

// A version of a module of a branch.
export function CommitDialog({ org, module, onDone, onClose }: Props) {
	const path = pathOf(org, module);
	const commits = useDocument(address(`${path}/commits`));
	const branch = textIn(object(module, "vcs-repo"), "branch");
	const fields = [versionField, commitField(branch, commits.items, commits.error?.message ?? "")];
	const { values, controls } = useForm(fields);
	const publish = async () => {
		await change("POST", address(`${path}/versions`), versionBody(values));
		announce(`Version ${word(values, "version")} requested`);
		await onDone();
	};
	return (
		<Dialog
			title="New version"
			confirm="Publish"
			reason={missingOf(fields, values)}
			fields={pointersOf(fields)}
			onConfirm={publish}
			onClose={onClose}
		>
			{(error) => (
				<>
					<p>A worker fetches the commit.</p>
					{controls(error)}
				</>
			)}
		</Dialog>
	);
}

type MarkProps = Props & { readonly what: Marking; readonly version: Version };

export function MarkDialog({ org, module, what, version, onDone, onClose }: MarkProps) {
	const mark = marks[what];
	const fields = markFields(what, version);
	const { values, controls } = useForm(fields);
	const save = async () => {
		await change("PATCH", address(`${pathOf(org, module)}/${segment(version.version)}`), markBody(what, values));
		announce(`Version ${version.version} of ${text(module, "name")} is ${mark.done}`);
		await onDone();
	};
	return (
		<Dialog
			title={`${mark.word} version ${version.version}`}
			confirm={mark.word}
			danger={what === "revoke"}
			fields={pointersOf(fields)}
			onConfirm={save}
			onClose={onClose}
		>
			{(error) => (
				<>
					<p>{mark.intro}</p>
					{controls(error)}
				</>
			)}
		</Dialog>
	);
}
