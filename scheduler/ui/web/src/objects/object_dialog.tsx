// SPDX-License-Identifier: MPL-2.0
import { Dialog } from "../components/dialog.tsx";
import { announce } from "../components/live_region.tsx";
import { TypedDialog } from "../components/typed_dialog.tsx";
import { address, change } from "../core/api.ts";
import { linksOf, type Resource } from "../core/resource.ts";
import { attributesOf, fieldsFor, relationshipsOf, valuesOf } from "./fields.ts";
import { type ObjectKind, titleCase } from "./kinds.ts";
import { ObjectFields, pointersOf } from "./object_fields.tsx";
import { useTyped } from "./use_typed.ts";

export type FormKind = Pick<ObjectKind, "type" | "one" | "fields" | "missing" | "add" | "create" | "save">;

type FormProps = {
	readonly kind: FormKind;
	readonly item?: Resource | undefined; // undefined: a new one
	readonly url: string;
	readonly title?: string;
	readonly intro?: string;
	readonly relationships?: object;
	readonly onDone: (saved: Resource | undefined) => unknown;
	readonly onClose: () => void;
};

// Creates or changes an object by the fields of its kind.
export function FormDialog({ kind, item, url, title, intro, relationships, onDone, onClose }: FormProps) {
	const fields = fieldsFor(kind.fields, item);
	const [typed, onValue] = useTyped();
	const values = { ...valuesOf(fields, item), ...typed };
	const save = async () => {
		const relations = { ...relationships, ...relationshipsOf(fields, values, item) };
		const attributes = attributesOf(fields, values, item);
		const body = { data: { type: kind.type, attributes, ...(Object.keys(relations).length > 0 && { relationships: relations }) } };
		const answer = await change(item ? "PATCH" : "POST", url, body);
		announce(`${titleCase(kind.one)} ${item ? "saved" : "created"}`);
		await onDone(answer.data && !Array.isArray(answer.data) ? (answer.data as Resource) : undefined);
	};
	return (
		<Dialog
			title={title ?? kind.add ?? `New ${kind.one}`}
			confirm={item ? (kind.save ?? "Save") : (kind.create ?? "Create")}
			reason={kind.missing?.(values)}
			fields={pointersOf(fields)}
			onConfirm={save}
			onClose={onClose}
		>
			{(error) => (
				<>
					{intro && <p>{intro}</p>}
					<ObjectFields fields={fields} values={values} error={error} onValue={onValue} />
				</>
			)}
		</Dialog>
	);
}

type Props = {
	readonly kind: ObjectKind;
	readonly item: Resource | undefined; // undefined: a new one
	readonly createPath: string;
	readonly onDone: (saved: Resource | undefined) => unknown;
	readonly onClose: () => void;
};

export function ObjectDialog({ kind, item, createPath, ...rest }: Props) {
	const kept = kind.kept ? { [kind.kept]: { data: linksOf(item, kind.kept) } } : {};
	return item ? (
		<FormDialog
			kind={kind}
			item={item}
			url={address(kind.item(item.id))}
			title={`Edit ${kind.name(item)}`}
			relationships={kept}
			{...rest}
		/>
	) : (
		<FormDialog kind={kind} url={address(createPath)} relationships={kind.relationships ?? {}} {...rest} />
	);
}

type RemoveProps = { readonly kind: ObjectKind; readonly item: Resource; readonly onDone: () => unknown; readonly onClose: () => void };

export function RemoveDialog({ kind, item, onDone, onClose }: RemoveProps) {
	const word = kind.remove ?? "Delete";
	const name = kind.name(item);
	const remove = async () => {
		await change("DELETE", address(kind.item(item.id)));
		announce(`${name}: done`);
		await onDone();
	};
	return (
		<TypedDialog
			name={kind.typed ? name : undefined}
			title={`${word} ${kind.one} ${name}`}
			confirm={kind.confirmRemove ?? word}
			onConfirm={remove}
			onClose={onClose}
		>
			<p>{kind.removes}</p>
		</TypedDialog>
	);
}
