// SPDX-License-Identifier: MPL-2.0
import { type Column, PlainTable } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linksOf, type Resource, text } from "../../core/resource.ts";

const columns: readonly Column[] = [
	{ key: "name", head: "Name", cell: (output) => <code>{text(output, "name")}</code> },
	{
		key: "value",
		head: "Value",
		cell: (output) =>
			flag(output, "sensitive") ? (
				<span class="muted">(sensitive)</span>
			) : (
				<span class="value">{JSON.stringify(output.attributes.value, null, 2)}</span>
			),
	},
];

// The outputs of a state. Sensitive values stay on the server.
export function Outputs({ state }: { readonly state: Resource }) {
	const hasOutputs = linksOf(state, "outputs").length > 0;
	const path = `/state-versions/${segment(state.id)}/outputs`;
	const outputs = useDocument(hasOutputs ? address(path, { masked: "true", "page[size]": 100 }) : undefined);
	return (
		<section class="page-part">
			<h2>Outputs</h2>
			{!hasOutputs && <p class="muted">This state has no outputs.</p>}
			{outputs.items.length > 0 && (
				<PlainTable caption="Outputs" columns={columns} rows={outputs.items} keyOf={(output) => output.id} class="stack" />
			)}
		</section>
	);
}
