// SPDX-License-Identifier: MPL-2.0
import { Button } from "../../components/button.tsx";
import { Chip, Mark } from "../../components/status_mark.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
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
	const columns: readonly Column<VariableRow>[] = [
		{ key: "key", head: "Key", cell: ({ variable }) => <Key variable={variable} /> },
		{ key: "value", head: "Value", cell: ({ variable }) => <Value variable={variable} /> },
		{ key: "source", head: "Source", cell: (row) => <Source row={row} org={org} /> },
		{
			key: "actions",
			head: <span class="sr-only">Actions</span>,
			cell: ({ set, variable }) =>
				set === undefined && (
					<div class="cell-actions">
						<Button reason={reason} label={`Edit ${text(variable, "key")}`} onPress={() => onEdit(variable)}>
							Edit
						</Button>
						<Button reason={reason} label={`Delete ${text(variable, "key")}`} onPress={() => onDelete(variable)}>
							Delete
						</Button>
					</div>
				),
		},
	];
	return (
		<PlainTable
			caption={caption}
			columns={columns}
			rows={rows}
			keyOf={(row) => row.variable.id}
			class="stack"
			rowClass={(row) => (row.wins ? "" : "overridden")}
		/>
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
