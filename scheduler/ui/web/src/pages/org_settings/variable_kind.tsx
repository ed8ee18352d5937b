// SPDX-License-Identifier: MPL-2.0
import { Chip } from "../../components/status_mark.tsx";
import { flag, type Resource, text } from "../../core/resource.ts";
import type { ObjectKind } from "./kinds.ts";

const categories = [
	["terraform", "Terraform variable"],
	["env", "Environment variable"],
] as const;

function Shown({ item }: { readonly item: Resource }) {
	return flag(item, "sensitive") ? (
		<span class="muted">Sensitive: it is never shown</span>
	) : (
		<span class="value">{text(item, "value")}</span>
	);
}

// Variables of a variable set, and parameters of a policy set.
export function variableKind(path: string, words: { readonly one: string; readonly many: string; readonly empty: string }): ObjectKind {
	return {
		type: "vars",
		...words,
		name: (item) => text(item, "key"),
		item: (id) => `${path}/${id}`,
		fields: [
			{ name: "key", label: "Key", kind: "text" },
			{ name: "value", label: "Value", kind: "long", hint: "The stored value of a sensitive one stays, unless you type a new one." },
			{ name: "category", label: "Category", kind: "choice", options: categories, initial: "terraform", only: "create" },
			{ name: "description", label: "Description", kind: "text" },
			{ name: "hcl", label: "The value is an HCL expression", kind: "flag" },
			{ name: "sensitive", label: "Sensitive: the value is never shown again", kind: "flag" },
		],
		columns: [
			{ key: "value", head: "Value", cell: (item) => <Shown item={item} /> },
			{
				key: "category",
				head: "Category",
				cell: (item) => (
					<>
						{categories.find(([key]) => key === text(item, "category"))?.[1] ?? text(item, "category")}{" "}
						{flag(item, "hcl") && <Chip>HCL</Chip>}
					</>
				),
			},
		],
		removes: "Later runs do not have it.",
	};
}
