// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { announce } from "../../../components/live_region.tsx";
import { address, change, segment } from "../../../core/api.ts";
import { ApiError } from "../../../core/errors.ts";
import { useAttempt } from "../../../core/hooks.ts";
import { type Resource, text } from "../../../core/resource.ts";
import { navigate, pathTo } from "../../../core/router.ts";
import { pointerOf, valuesOf } from "../../../objects/fields.ts";
import { useTyped } from "../../../objects/use_typed.ts";
import { pathOf } from "../module_words.ts";
import { ArchiveField, PublishForm } from "./publish_fields.tsx";
import { addressFields, fileReason, isVersion, missingOf, versionBody, versionField, word } from "./publish_form.ts";
import { versionUpload } from "./upload.ts";

// The module and the version that an earlier try has made. The next one goes on from there.
export type Made = { readonly module?: Resource; readonly version?: string };

function MadeNote({ org, module, version }: Made & { readonly org: string }) {
	return module ? (
		<p class="note wait">
			The module{" "}
			<a href={pathTo("/app/:org/modules/:module", { org, module: module.id })}>
				{text(module, "name")}/{text(module, "provider")}
			</a>{" "}
			exists now.{" "}
			{version ? `Its version ${version} has no files yet: choose them and publish again.` : "It has no version yet: publish again."}
		</p>
	) : null;
}

type Props = {
	readonly org: string;
	readonly reason: string | undefined;
	readonly made: Made;
	readonly onMade: (made: Made) => void;
};

export function ByUpload({ org, reason, made, onMade }: Props) {
	const [typed, onValue] = useTyped();
	const [file, setFile] = useState<File | undefined>();
	const { error, attempt } = useAttempt();
	const fields = [...(made.module ? [] : addressFields), ...(made.version ? [] : [versionField])];
	const values = { ...valuesOf(fields, undefined), ...typed };
	const publish = () =>
		attempt(async () => {
			if (!made.version && !isVersion(word(values, "version"))) {
				throw new ApiError(0, [
					{ title: "", detail: "Version must be a semantic version, such as 1.2.3.", pointer: pointerOf(versionField) },
				]);
			}
			const base = `/organizations/${segment(org)}/registry-modules`;
			const attributes = { name: word(values, "name"), provider: word(values, "provider") };
			const body = { data: { type: "registry-modules", attributes } };
			const module = made.module ?? ((await change("POST", address(base), body)).data as Resource);
			onMade({ ...made, module });
			const version = made.version ?? word(values, "version");
			const path = pathOf(org, module);
			if (!made.version) {
				await change("POST", address(`${path}/versions`), versionBody(values));
			}
			onMade({ module, version });
			await versionUpload(path, version, file as File);
			announce("Module published");
			navigate(pathTo("/app/:org/modules/:module", { org, module: module.id }));
		});
	return (
		<>
			<p>The first version of a module that no repository has. The module's page takes further ones.</p>
			<MadeNote org={org} {...made} />
			<PublishForm
				fields={fields}
				values={values}
				error={error}
				reason={reason ?? missingOf(fields, values) ?? fileReason(file)}
				onValue={onValue}
				onSend={publish}
			>
				<ArchiveField error={error} onFile={setFile} />
			</PublishForm>
		</>
	);
}
