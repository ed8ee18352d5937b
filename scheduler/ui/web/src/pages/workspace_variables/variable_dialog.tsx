// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, FieldError, SelectField, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { change } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { flag, type Resource } from "../../core/resource.ts";
import type { Category } from "./effective.ts";
import { formOf, type VariableForm, variableBody } from "./variable_form.ts";

type Props = {
	readonly path: string; // of the list of variables
	readonly variable: Resource | undefined; // undefined: a new one
	readonly start: VariableForm;
	readonly onSaved: () => Promise<unknown>;
	readonly onClose: () => void;
};

const pointers = ["key", "value", "category", "description", "sensitive"].map((name) => `/data/attributes/${name}`);

export function VariableDialog({ path, variable, start, onSaved, onClose }: Props) {
	const [form, setForm] = useState(variable ? formOf(variable) : start);
	const set = (changes: Partial<VariableForm>) => setForm((before) => ({ ...before, ...changes }));
	const save = async () => {
		await change(variable ? "PATCH" : "POST", variable ? `${path}/${variable.id}` : path, variableBody(form, variable));
		announce(variable ? "The variable is saved" : "The variable is added");
		await onSaved();
	};
	return (
		<Dialog
			title={variable ? "Edit variable" : "Add variable"}
			confirm="Save variable"
			reason={form.key ? undefined : "the key is empty"}
			fields={pointers}
			onConfirm={save}
			onClose={onClose}
		>
			{(error: ApiError | undefined) => (
				<>
					<TextField
						label="Key"
						error={error}
						pointer="/data/attributes/key"
						value={form.key}
						maxLength={128}
						onValue={(key) => set({ key })}
					/>
					<ValueField form={form} wasSensitive={flag(variable, "sensitive")} error={error} set={set} />
					<KindFields form={form} wasSensitive={flag(variable, "sensitive")} error={error} set={set} />
					<TextField
						label="Description"
						error={error}
						pointer="/data/attributes/description"
						value={form.description}
						maxLength={512}
						onValue={(description) => set({ description })}
					/>
				</>
			)}
		</Dialog>
	);
}

type PartProps = {
	readonly form: VariableForm;
	readonly wasSensitive: boolean;
	readonly error: ApiError | undefined;
	readonly set: (changes: Partial<VariableForm>) => void;
};

const longestValue = 262_144;

function ValueField({ form, wasSensitive, error, set }: PartProps) {
	return (
		<TextField
			label="Value"
			lines={3}
			maxLength={longestValue}
			hint={wasSensitive && !form.isTyped ? "The value is kept. Nobody can read it; type to replace it." : undefined}
			error={error}
			pointer="/data/attributes/value"
			value={form.value}
			onValue={(value) => set({ value, isTyped: true })}
		/>
	);
}

const categories = [
	["terraform", "Terraform variable"],
	["env", "Environment variable"],
] as const;

function KindFields({ form, wasSensitive, error, set }: PartProps) {
	return (
		<>
			<SelectField
				label="Category"
				options={categories}
				error={error}
				pointer="/data/attributes/category"
				value={form.category}
				onValue={(category) => set({ category: category as Category })}
			/>
			{form.category === "terraform" && (
				<CheckField label="HCL" hint="The value is an expression, such as a list." checked={form.hcl} onChecked={(hcl) => set({ hcl })} />
			)}
			{wasSensitive ? (
				<p class="muted">Sensitive. This can't be turned off: add a new variable instead.</p>
			) : (
				<CheckField
					label="Sensitive"
					hint="Nobody can read the value again. This can't be turned off."
					checked={form.sensitive}
					onChecked={(on) => set({ sensitive: on })}
				/>
			)}
			<FieldError>{error?.at("/data/attributes/sensitive")}</FieldError>
		</>
	);
}
