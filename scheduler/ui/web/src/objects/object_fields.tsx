// SPDX-License-Identifier: MPL-2.0
import { Fragment } from "preact";
import { CheckField, CheckList, SelectField, TextField } from "../components/field.tsx";
import type { ApiError } from "../core/errors.ts";
import { type FieldRow, pointerOf, type Value, type Values } from "./fields.ts";

type Props = {
	readonly fields: readonly FieldRow[];
	readonly values: Values;
	readonly error: ApiError | undefined;
	readonly onValue: (name: string, value: Value) => void;
};

const inputTypes: Readonly<Partial<Record<FieldRow["kind"], "email" | "url" | "number">>> = {
	email: "email",
	url: "url",
	number: "number",
};

// The controls of a table of fields. Each shows the API's error for its attribute.
export function ObjectFields({ fields, values, error, onValue }: Props) {
	return (
		<>
			{fields
				.filter((field) => field.shown?.(values) ?? true)
				.map((field) => (
					<Fragment key={field.name}>
						{field.heading && <h3>{field.heading}</h3>}
						<Control field={field} value={values[field.name] ?? ""} error={error} onValue={(value) => onValue(field.name, value)} />
					</Fragment>
				))}
		</>
	);
}

type ControlProps = {
	readonly field: FieldRow;
	readonly value: Value;
	readonly error: ApiError | undefined;
	readonly onValue: (value: Value) => void;
};

function Control({ field, value, error, onValue }: ControlProps) {
	const common = { label: field.label, hint: field.hint, error, pointer: pointerOf(field) };
	const longest = field.longest === undefined ? {} : { maxLength: field.longest };
	const suggestions = field.suggestions ? { suggestions: field.suggestions } : {};
	switch (field.kind) {
		case "flag":
			return (
				<CheckField label={field.label} hint={field.hint} checked={value === true} disabled={field.disabled ?? false} onChecked={onValue} />
			);
		case "choice":
			return <SelectField {...common} value={String(value)} options={field.options ?? []} onValue={onValue} />;
		case "set":
		case "flags":
			return (
				<CheckList
					legend={field.label}
					options={field.options ?? []}
					chosen={value as readonly string[]}
					error={error}
					pointer={pointerOf(field)}
					onChosen={onValue}
				/>
			);
		case "list":
			return (
				<TextField {...common} lines={3} value={(value as readonly string[]).join("\n")} onValue={(typed) => onValue(typed.split("\n"))} />
			);
		case "long":
			return <TextField {...common} {...longest} lines={4} value={String(value)} onValue={onValue} />;
		case "moment":
			return <TextField {...common} type="datetime-local" value={String(value)} onValue={onValue} />;
		case "time":
			return <TextField {...common} type={"date" as "text"} value={String(value).slice(0, 10)} onValue={onValue} />;
		default:
			return (
				<TextField
					{...common}
					{...longest}
					{...suggestions}
					type={inputTypes[field.kind] ?? "text"}
					value={String(value)}
					onValue={onValue}
				/>
			);
	}
}

// The pointers whose errors the controls show.
export function pointersOf(fields: readonly FieldRow[]): readonly string[] {
	return fields.filter((field) => field.kind !== "flag").map(pointerOf);
}
