// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { Button } from "../../../components/button.tsx";
import { Problems } from "../../../components/error_panel.tsx";
import { FileField } from "../../../components/field.tsx";
import type { ApiError } from "../../../core/errors.ts";
import type { FieldRow, Value, Values } from "../../../objects/fields.ts";
import { ObjectFields, pointersOf } from "../../../objects/object_fields.tsx";
import { filePointer } from "./upload.ts";

type ArchiveProps = { readonly error: ApiError | undefined; readonly onFile: (file: File | undefined) => void };

export function ArchiveField({ error, onFile }: ArchiveProps) {
	return (
		<FileField
			label="Files"
			accept=".gz,.tgz"
			hint="A gzip'd tar archive (.tar.gz) of at most 100 MiB, with the module at its root."
			error={error}
			pointer={filePointer}
			onFiles={([file]) => onFile(file)}
		/>
	);
}

type FormProps = {
	readonly fields: readonly FieldRow[];
	readonly values: Values;
	readonly error: ApiError | undefined;
	readonly reason: string | undefined; // why it can't be sent
	readonly onValue: (name: string, value: Value) => void;
	readonly onSend: () => Promise<unknown>;
	readonly children?: ComponentChildren; // after the fields
};

export function PublishForm({ fields, values, error, reason, onValue, onSend, children }: FormProps) {
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				void (reason || onSend());
			}}
		>
			<ObjectFields fields={fields} values={values} error={error} onValue={onValue} />
			{children}
			<Problems of={error} fields={[...pointersOf(fields), filePointer]} />
			<div class="actions">
				<Button kind="primary" reason={reason} onPress={onSend}>
					Publish
				</Button>
			</div>
		</form>
	);
}
