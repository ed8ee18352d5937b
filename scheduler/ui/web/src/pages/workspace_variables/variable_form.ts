// SPDX-License-Identifier: MPL-2.0
// A variable as the dialog edits it, and the request that saves it.

import { flag, type Resource, text } from "../../core/resource.ts";
import type { Category } from "./effective.ts";

export type VariableForm = {
	readonly key: string;
	readonly value: string;
	readonly isTyped: boolean; // the value was edited
	readonly category: Category;
	readonly hcl: boolean;
	readonly sensitive: boolean;
	readonly description: string;
};

export function emptyForm(category: Category): VariableForm {
	return { key: "", value: "", isTyped: false, category, hcl: false, sensitive: false, description: "" };
}

export function formOf(variable: Resource): VariableForm {
	return {
		key: text(variable, "key"),
		value: text(variable, "value"),
		isTyped: false,
		category: text(variable, "category") === "env" ? "env" : "terraform",
		hcl: flag(variable, "hcl"),
		sensitive: flag(variable, "sensitive"),
		description: text(variable, "description"),
	};
}

// The value of a sensitive variable is not known here. It stays as it is unless a new one was typed.
export function variableBody(form: VariableForm, variable: Resource | undefined) {
	const { key, value, category, hcl, sensitive, description } = form;
	const keepsValue = variable !== undefined && flag(variable, "sensitive") && !form.isTyped;
	const attributes = { key, category, hcl: hcl && category === "terraform", sensitive, description, ...(!keepsValue && { value }) };
	return { data: { type: "vars", ...(variable && { id: variable.id }), attributes: attributes as Record<string, unknown> } };
}
