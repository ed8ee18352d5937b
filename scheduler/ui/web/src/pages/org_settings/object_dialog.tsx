// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change } from "../../core/api.ts";
import { linksOf, type Resource } from "../../core/resource.ts";
import { attributesOf, fieldsFor, valuesOf } from "./fields.ts";
import { type ObjectKind, titleCase } from "./kinds.ts";
import { ObjectFields, pointersOf } from "./object_fields.tsx";

type Props = {
	readonly kind: ObjectKind;
	readonly item: Resource | undefined; // undefined: a new one
	readonly createPath: string;
	readonly relationships?: object; // of a new one
	readonly onDone: (saved: Resource | undefined) => unknown;
	readonly onClose: () => void;
};

function keptOf(kind: ObjectKind, item: Resource): object | undefined {
	return kind.kept ? { [kind.kept]: { data: linksOf(item, kind.kept) } } : undefined;
}

export function ObjectDialog({ kind, item, createPath, relationships, onDone, onClose }: Props) {
	const fields = fieldsFor(kind.fields, item);
	const [values, setValues] = useState(() => valuesOf(fields, item));
	const save = async () => {
		const attributes = attributesOf(fields, values, item);
		const relations = item ? keptOf(kind, item) : relationships;
		const body = { data: { type: kind.type, attributes, ...(relations && { relationships: relations }) } };
		const answer = await change(item ? "PATCH" : "POST", address(item ? kind.item(item.id) : createPath), body);
		announce(`${titleCase(kind.one)} ${item ? "saved" : "created"}`);
		await onDone(answer.data && !Array.isArray(answer.data) ? (answer.data as Resource) : undefined);
	};
	return (
		<Dialog
			title={item ? `Edit ${kind.name(item)}` : `New ${kind.one}`}
			confirm={item ? "Save" : "Create"}
			fields={pointersOf(fields)}
			onConfirm={save}
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

type RemoveProps = { readonly kind: ObjectKind; readonly item: Resource; readonly onDone: () => unknown; readonly onClose: () => void };

export function RemoveDialog({ kind, item, onDone, onClose }: RemoveProps) {
	const word = kind.remove ?? "Delete";
	const remove = async () => {
		await change("DELETE", address(kind.item(item.id)));
		announce(`${kind.name(item)}: done`);
		await onDone();
	};
	return (
		<Dialog title={`${word} ${kind.one} ${kind.name(item)}`} confirm={word} danger onConfirm={remove} onClose={onClose}>
			<p>{kind.removes}</p>
		</Dialog>
	);
}
