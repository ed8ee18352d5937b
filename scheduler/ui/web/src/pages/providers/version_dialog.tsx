// SPDX-License-Identifier: MPL-2.0
// Publishes a version of a private provider, or completes one: SHA256SUMS, its signature, and the archives.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { FileField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { attributesOf, type FieldRow, valuesOf } from "../../objects/fields.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import { useTyped } from "../../objects/use_typed.ts";
import { archiveOf, problemOf, type Sending } from "./provider_files.ts";
import { publish, versionCreate, versionUrl } from "./publish.ts";
import { missingOf, useFiles } from "./use_files.ts";
import { Files } from "./version_files.tsx";

const fieldsOf = (keys: readonly Resource[]): readonly FieldRow[] => [
	{ name: "version", label: "Version", kind: "text", longest: 64, hint: "A semantic version, such as 1.2.0." },
	{
		name: "key-id",
		label: "GPG key",
		kind: "choice",
		options: keys.map((key) => [text(key, "key-id"), text(key, "key-id")] as const),
		initial: text(keys[0], "key-id"),
		hint: "Its private part has signed SHA256SUMS.",
	},
	{
		name: "protocols",
		label: "Protocols",
		kind: "set",
		options: [
			["5.0", "5.0: Terraform 0.12 and later"],
			["6.0", "6.0: Terraform 1.0 and later"],
		],
		initial: ["5.0"],
	},
];

type Props = {
	readonly org: string;
	readonly provider: Resource;
	readonly path: string; // of the provider
	readonly version: Resource | undefined; // undefined: a new one
	readonly onClose: () => void;
};

// The fields of a new version, or how to get a key to sign it.
function NewFields({ org, keys, children }: { readonly org: string; readonly keys: Loaded; readonly children: ComponentChildren }) {
	return (
		<Content of={keys}>
			{() =>
				keys.items.length > 0 ? (
					children
				) : (
					<p>
						The organization has no GPG key. Add the public key by which the version is signed in the{" "}
						<a href={pathTo("/app/:org/settings/gpg-keys", { org })}>settings</a>.
					</p>
				)
			}
		</Content>
	);
}

export function VersionDialog({ org, provider, path, version, onClose }: Props) {
	const [made, setMade] = useState(version);
	const keys = useDocument(
		version ? undefined : address("/api/registry/private/v2/gpg-keys", { "filter[namespace]": org, "page[size]": 100 }),
	);
	const fields = fieldsOf(keys.items);
	const [typed, onValue] = useTyped();
	const values = made ? valuesOf(fields, made) : { ...valuesOf(fields, undefined), ...typed };
	const files = useFiles(path, made);
	const [sending, setSending] = useState<ReadonlyMap<string, Sending>>(new Map());
	const stop = useRef(new AbortController()).current;
	useEffect(() => () => stop.abort(), []);
	const wanted = { provider: text(provider, "name"), version: String(values.version), sums: files.checksums };
	const rows = [
		...[files.sums, files.signature].flatMap((file) => (file && !files.verified ? [{ file, problem: undefined }] : [])),
		...files.archives.map((file) => ({ file, problem: problemOf(file.name, wanted) })),
	];
	const send = async () => {
		const target = made ?? (await versionCreate(path, attributesOf(fields, values, undefined)));
		setMade(target);
		setSending(new Map());
		await publish({
			url: versionUrl(path, target),
			...(files.verified ? { sums: undefined, signature: undefined } : files),
			checksums: files.checksums ?? new Map(),
			archives: files.archives,
			stop: stop.signal,
			onVersion: setMade,
			onSending: (filename, state) => setSending((before) => new Map(before).set(filename, state)),
		});
		announce(`Version ${text(target, "version")}: all files are sent`);
	};
	const archivesChoose = (archives: readonly File[]) => {
		files.setArchives(archives);
		const named = archives.flatMap(({ name }) => archiveOf(name)?.version ?? [])[0];
		if (named && !values.version) {
			onValue("version", named);
		}
	};
	return (
		<Dialog
			title={version ? `Add files to version ${text(version, "version")}` : `New version of ${text(provider, "name")}`}
			confirm={version ? "Upload" : "Publish"}
			reason={missingOf(
				values,
				files,
				rows.some(({ problem }) => problem),
			)}
			fields={pointersOf(fields)}
			onConfirm={send}
			onClose={onClose}
		>
			{(error) => (
				<>
					{made ? (
						<p>
							{files.verified
								? `SHA256SUMS is signed by the key ${text(made, "key-id")}.`
								: `SHA256SUMS must be signed by the key ${text(made, "key-id")}. To use another one, delete the version first.`}
						</p>
					) : (
						<NewFields org={org} keys={keys}>
							<ObjectFields fields={fields} values={values} error={error} onValue={onValue} />
						</NewFields>
					)}
					<Problems of={files.error} />
					{!files.verified && (
						<>
							<FileField label="SHA256SUMS" accept="" hint="The checksum of each archive." onFiles={files.sumsChoose} />
							<FileField
								label="Signature of SHA256SUMS"
								accept=".sig"
								hint="As gpg --detach-sign SHA256SUMS makes it."
								onFiles={([file]) => files.setSignature(file)}
							/>
						</>
					)}
					<FileField
						label="Archives"
						accept=".zip"
						multiple
						hint={`One for each platform: terraform-provider-${wanted.provider}_VERSION_OS_ARCH.zip. More can be added later.`}
						onFiles={archivesChoose}
					/>
					<Files rows={rows} sending={sending} />
				</>
			)}
		</Dialog>
	);
}
