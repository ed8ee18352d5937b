// SPDX-License-Identifier: MPL-2.0
import { CopyId } from "../../components/copy.tsx";
import { Table } from "../../components/table.tsx";
import { flag, may, type Resource, text } from "../../core/resource.ts";

const shownLength = 200;

// valueText: a text as it is, other values as JSON.
export function valueText(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function Value({ output }: { readonly output: Resource }) {
	if (flag(output, "sensitive")) {
		return <span class="muted">(sensitive)</span>;
	}
	const value = valueText(output.attributes.value);
	return <CopyId id={value} shown={value.length > shownLength ? `${value.slice(0, shownLength)}…` : value} />;
}

const columns = [
	{ key: "name", head: "Name", cell: (output: Resource) => <code>{text(output, "name")}</code> },
	{ key: "type", head: "Type", class: "wide", cell: (output: Resource) => text(output, "output-type") },
	{ key: "value", head: "Value", cell: (output: Resource) => <Value output={output} /> },
];

export function Outputs({ workspace, outputs }: { readonly workspace: Resource; readonly outputs: readonly Resource[] }) {
	return (
		<section aria-labelledby="outputs">
			<h2 id="outputs">Outputs</h2>
			{outputs.length > 0 ? (
				<Table caption="Outputs" columns={columns} rows={outputs} />
			) : (
				<p class="muted">{may(workspace, "can-read-state-outputs") ? "The state has no outputs." : "You may not read outputs here."}</p>
			)}
		</section>
	);
}
