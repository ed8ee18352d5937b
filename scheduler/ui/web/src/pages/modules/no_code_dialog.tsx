// SPDX-License-Identifier: MPL-2.0
// The settings of a no-code module: whether it is enabled, its version, and the values that its inputs may have.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { type FieldRow, type Values, valuesOf } from "../../objects/fields.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import { useTyped } from "../../objects/use_typed.ts";
import type { Input } from "./description.ts";
import { latestOf, versionsOf } from "./module_words.ts";
import { choiceOf, linesOf, valuesOf as valuesIn } from "./no_code.ts";
import { useDescription } from "./use_description.ts";

// The allowed values of an input as they are typed. id: of the option that it replaces, or "".
type Row = { readonly id: string; readonly name: string; readonly type: string; readonly lines: string };

const latest = "latest";

function fieldsOf(module: Resource, noCode: Resource | undefined): readonly FieldRow[] {
	const pinned = text(noCode, "version-pin");
	const usable = versionsOf(module).filter(({ status, word, version }) => version === pinned || (status === "ok" && word !== "Revoked"));
	return [
		{ name: "enabled", label: "Enabled", kind: "flag", initial: true, hint: "Members may make workspaces from the module." },
		{
			name: "version-pin",
			label: "Version",
			kind: "choice",
			from: () => pinned || latest,
			initial: latest,
			options: [
				[latest, "The newest version"],
				...usable.map(({ version, word }) => [version, word === "Usable" ? version : `${version} (${word})`] as const),
			],
			hint: "Workspaces that were made before are not changed. They offer an upgrade.",
		},
	];
}

function bodyOf(module: Resource, values: Values, rows: readonly Row[]) {
	const options = rows.map(({ id, name, type, lines }) => ({
		type: "variable-options",
		...(id && { id }),
		attributes: { "variable-name": name, "variable-type": type, options: valuesIn(lines, type).values },
	}));
	return {
		data: {
			type: "no-code-modules",
			attributes: values,
			relationships: {
				"registry-module": { data: { type: "registry-modules", id: module.id } },
				"variable-options": { data: options },
			},
		},
	};
}

function wrongIn(rows: readonly Row[]): string | undefined {
	for (const { name, type, lines } of rows) {
		const { wrong } = valuesIn(lines, type);
		if (wrong !== undefined) {
			return `${wrong.slice(0, 40)} is no value of ${name}`;
		}
	}
	return undefined;
}

const optionPointer = (at: number) => `/data/relationships/variable-options/data/${at}`;
const lineHint = (type: string) =>
	type === "string" ? "One value on each line. Empty: any value." : "One value on each line, as JSON. Empty: any value.";

type RowsProps = {
	readonly rows: readonly Row[];
	readonly inputs: readonly Input[];
	readonly sent: readonly string[];
	readonly error: ApiError | undefined;
	readonly onRows: (rows: readonly Row[]) => void;
};

function Rows({ rows, inputs, sent, error, onRows }: RowsProps) {
	const [chosen, setChosen] = useState("");
	const free = inputs.filter((input) => !rows.some(({ name }) => name === input.name));
	const selected = free.find(({ name }) => name === chosen) ?? free[0];
	return (
		<section aria-labelledby="allowed-values">
			<h3 id="allowed-values">Allowed values</h3>
			{rows.map((row) => {
				const at = sent.indexOf(row.name);
				return (
					<TextField
						key={row.name}
						label={`Values of ${row.name}`}
						hint={lineHint(row.type)}
						lines={3}
						error={error}
						pointer={at < 0 ? "" : optionPointer(at)}
						value={row.lines}
						onValue={(lines) => onRows(rows.map((other) => (other.name === row.name ? { ...other, lines } : other)))}
					/>
				);
			})}
			{selected ? (
				<>
					<SelectField
						label="Input"
						hint="People choose its value from a list."
						value={selected.name}
						options={free.map(({ name }) => [name, name] as const)}
						onValue={setChosen}
					/>
					<Button onPress={() => onRows([...rows, { id: "", name: selected.name, type: selected.type, lines: "" }])}>Add values</Button>
				</>
			) : (
				<p class="muted">No further input of this version is known.</p>
			)}
		</section>
	);
}

type Props = {
	readonly owner: string; // the module's organization
	readonly module: Resource;
	readonly noCode: Resource | undefined; // undefined: a new one
	readonly onDone: () => Promise<unknown>;
	readonly onClose: () => void;
};

export function NoCodeDialog({ owner, module, noCode, onDone, onClose }: Props) {
	const fields = fieldsOf(module, noCode);
	const [typed, onValue] = useTyped();
	const [rows, setRows] = useState<readonly Row[]>(() =>
		store
			.many(noCode, "variable-options")
			.map(choiceOf)
			.map((choice) => ({ ...choice, lines: linesOf(choice) })),
	);
	const [sent, setSent] = useState<readonly string[]>([]);
	const values = { ...valuesOf(fields, noCode), ...typed };
	const pinned = String(values["version-pin"]);
	const { description } = useDescription(module.id, pinned === latest ? latestOf(versionsOf(module)) : pinned);
	const save = async () => {
		const used = rows.filter(({ lines }) => lines.trim() !== "");
		setSent(used.map(({ name }) => name));
		const url = noCode ? `/no-code-modules/${segment(noCode.id)}` : `/organizations/${segment(owner)}/no-code-modules`;
		await change(noCode ? "PATCH" : "POST", address(url), bodyOf(module, values, used));
		announce("No-code settings saved");
		await onDone();
	};
	return (
		<Dialog
			title="No-code settings"
			confirm="Save"
			reason={wrongIn(rows)}
			fields={[...pointersOf(fields), ...sent.map((_, at) => optionPointer(at))]}
			onConfirm={save}
			onClose={onClose}
		>
			{(error) => (
				<>
					<ObjectFields fields={fields} values={values} error={error} onValue={onValue} />
					<Rows rows={rows} inputs={description?.root.inputs ?? []} sent={sent} error={error} onRows={setRows} />
				</>
			)}
		</Dialog>
	);
}

type RemoveProps = { readonly noCode: Resource; readonly onDone: () => Promise<unknown>; readonly onClose: () => void };

export function NoCodeRemoval({ noCode, onDone, onClose }: RemoveProps) {
	const remove = async () => {
		await change("DELETE", address(`/no-code-modules/${segment(noCode.id)}`));
		announce("No-code settings deleted");
		await onDone();
	};
	return (
		<Dialog title="Delete no-code settings" confirm="Delete" danger onConfirm={remove} onClose={onClose}>
			<p>No workspace can be made from the module any more. Workspaces that were made stay, without upgrades.</p>
		</Dialog>
	);
}
