// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { Chip, Mark } from "../../components/status_mark.tsx";
import { flag, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { priorityWord, type VariableRow } from "./effective.ts";

type Props = {
	readonly org: string;
	readonly caption: string;
	readonly rows: readonly VariableRow[];
	readonly reason: string | undefined; // why they can't be changed
	readonly onEdit: (variable: Resource) => void;
	readonly onDelete: (variable: Resource) => void;
};

// A name that several sources set has several rows, the one that a run gets first.
export function VariableTable({ org, caption, rows, reason, onEdit, onDelete }: Props) {
	return (
		<table class="stack">
			<caption class="sr-only">{caption}</caption>
			<thead>
				<tr>
					<th scope="col">Key</th>
					<th scope="col">Value</th>
					<th scope="col">Source</th>
					<th scope="col">
						<span class="sr-only">Actions</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{rows.map((row) => (
					<tr key={row.variable.id} class={row.wins ? "" : "overridden"}>
						<td>
							<Key variable={row.variable} />
						</td>
						<td>
							<Value variable={row.variable} />
						</td>
						<td>
							<Source row={row} org={org} />
						</td>
						<td>
							{row.set === undefined && (
								<div class="cell-actions">
									<Button reason={reason} label={`Edit ${text(row.variable, "key")}`} onPress={() => onEdit(row.variable)}>
										Edit
									</Button>
									<Button reason={reason} label={`Delete ${text(row.variable, "key")}`} onPress={() => onDelete(row.variable)}>
										Delete
									</Button>
								</div>
							)}
						</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

function Key({ variable }: { readonly variable: Resource }) {
	return (
		<>
			<code class="variable-key">{text(variable, "key")}</code> {flag(variable, "hcl") && <Chip>HCL</Chip>}
			{flag(variable, "sensitive") && <Chip>Sensitive</Chip>}
			{text(variable, "description") && <div class="muted">{text(variable, "description")}</div>}
		</>
	);
}

function Value({ variable }: { readonly variable: Resource }) {
	if (flag(variable, "sensitive")) {
		return <span class="muted">(sensitive, write only)</span>;
	}
	return text(variable, "value") === "" ? <span class="muted">(empty)</span> : <span class="value">{text(variable, "value")}</span>;
}

function Source({ row, org }: { readonly row: VariableRow; readonly org: string }) {
	const priority = priorityWord(row.set);
	return (
		<>
			{row.set ? <a href={`${pathTo("/app/:org/settings/variable-sets", { org })}#${row.set.id}`}>{text(row.set, "name")}</a> : "Workspace"}{" "}
			{priority && <Chip>{priority}</Chip>}
			{!row.wins && (
				<div>
					<Mark tone="wait">Not used: {row.beatenBy} wins</Mark>
				</div>
			)}
		</>
	);
}
