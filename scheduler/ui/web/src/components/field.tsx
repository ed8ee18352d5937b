// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import type { ApiError } from "../core/errors.ts";

type Common = {
	readonly label: string;
	readonly hint?: ComponentChildren;
	readonly error?: ApiError | undefined;
	readonly pointer?: string; // of the attribute in the request, such as /data/attributes/name
};

// The error of the API for a field; nothing without one.
export function FieldError({ children }: { readonly children: string | undefined }) {
	return children ? (
		<p class="field-error" role="alert">
			{children}
		</p>
	) : null;
}

type FieldProps = Common & {
	readonly control: (props: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => JSX.Element;
};

// A label, a control, a hint, and the error of the API for the field.
export function Field({ label, hint, error, pointer = "", control }: FieldProps) {
	const id = useId();
	const problem = pointer ? (error?.at(pointer) ?? "") : "";
	return (
		<div class="field">
			<label for={id}>{label}</label>
			{control({ id, "aria-describedby": `${id}-more`, "aria-invalid": problem !== "" })}
			<div id={`${id}-more`}>
				{hint && <p class="hint">{hint}</p>}
				<FieldError>{problem}</FieldError>
			</div>
		</div>
	);
}

type TextProps = Common & {
	readonly value: string;
	readonly onValue: (value: string) => void;
	readonly lines?: number;
	readonly required?: boolean;
	readonly type?: "text" | "email" | "url" | "password" | "number" | "search" | "datetime-local";
	readonly maxLength?: number;
	readonly suggestions?: readonly string[];
};

export function TextField({ value, onValue, lines, required = false, type = "text", maxLength, suggestions, ...common }: TextProps) {
	return (
		<Field
			{...common}
			control={(props) =>
				lines ? (
					<textarea
						{...props}
						rows={lines}
						required={required}
						maxLength={maxLength ?? 10000}
						value={value}
						onInput={(event) => onValue(event.currentTarget.value)}
					/>
				) : (
					<>
						<input
							{...props}
							type={type as "text"}
							required={required}
							maxLength={maxLength ?? 1000}
							list={suggestions && `${props.id}-known`}
							value={value}
							autocomplete="off"
							onInput={(event) => onValue(event.currentTarget.value)}
						/>
						{suggestions && <Suggestions id={`${props.id}-known`} texts={suggestions} />}
					</>
				)
			}
		/>
	);
}

type FileProps = Common & {
	readonly accept: string; // endings, such as ".zip"
	readonly multiple?: boolean;
	readonly onFiles: (files: readonly File[]) => void;
};

export function FileField({ accept, multiple = false, onFiles, ...common }: FileProps) {
	return (
		<Field
			{...common}
			control={(props) => (
				<input
					{...props}
					type="file"
					accept={accept}
					multiple={multiple}
					onChange={(event) => onFiles([...(event.currentTarget.files ?? [])])}
				/>
			)}
		/>
	);
}

export function Suggestions({ id, texts }: { readonly id: string; readonly texts: readonly string[] }) {
	return (
		<datalist id={id}>
			{texts.map((text) => (
				<option key={text} value={text} />
			))}
		</datalist>
	);
}

type ChoiceProps = Common & {
	readonly value: string;
	readonly options: readonly (readonly [value: string, word: string])[];
	readonly onValue: (value: string) => void;
};

export function SelectField({ value, options, onValue, ...common }: ChoiceProps) {
	return (
		<Field
			{...common}
			control={(props) => (
				<select {...props} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
					{options.map(([option, word]) => (
						<option key={option} value={option}>
							{word}
						</option>
					))}
				</select>
			)}
		/>
	);
}

export function CheckField({
	label,
	hint,
	checked,
	disabled = false,
	onChecked,
}: {
	label: string;
	hint?: ComponentChildren;
	checked: boolean;
	disabled?: boolean;
	onChecked: (on: boolean) => void;
}) {
	const id = useId();
	return (
		<div class="field check">
			<input id={id} type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onChecked(event.currentTarget.checked)} />
			<label for={id}>
				{label}
				{hint && <span class="hint"> {hint}</span>}
			</label>
		</div>
	);
}

type Props = {
	readonly legend: string;
	readonly options: readonly (readonly [value: string, word: string])[];
	readonly chosen: readonly string[];
	readonly error?: ApiError | undefined;
	readonly pointer?: string;
	readonly onChosen: (chosen: readonly string[]) => void;
};

// Several of the options, in the order of the options.
export function CheckList({ legend, options, chosen, error, pointer = "", onChosen }: Props) {
	const toggle = (value: string, on: boolean) =>
		onChosen(options.map(([option]) => option).filter((option) => (option === value ? on : chosen.includes(option))));
	return (
		<fieldset class="choices">
			<legend>{legend}</legend>
			{options.map(([value, word]) => (
				<CheckField key={value} label={word} checked={chosen.includes(value)} onChecked={(on) => toggle(value, on)} />
			))}
			<FieldError>{pointer ? error?.at(pointer) : undefined}</FieldError>
		</fieldset>
	);
}
