// SPDX-License-Identifier: MPL-2.0
// Selects workspaces of a result, and acts on them.

import { useState } from "preact/hooks";
import { Button, DialogButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { selectColumn } from "../../components/select_column.tsx";
import type { Column } from "../../components/table.tsx";
import { address, read, segment } from "../../core/api.ts";
import { count, counted } from "../../core/format.ts";
import { useAttempt, useDocument, useStopped } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { sendEach, type Target } from "../workspaces/bulk_send.ts";
import { type ExplorerAction, explorerActions, maxTargets, missingReason, toggledTargets, type Values } from "./bulk_actions.ts";
import { ChangeRequestDialog } from "./change_request_dialog.tsx";
import { emptyFilters, parametersOf, type Query } from "./query.ts";
import { TargetList } from "./target_list.tsx";

const pageSize = 100;

const targetOf = (row: Resource): Target => ({ id: row.id, name: text(row, "workspace-name") || row.id });

// All workspaces that the query finds, up to maxTargets.
async function targetsOf(org: string, query: Query): Promise<readonly Target[]> {
	const parameters = parametersOf({ ...query, columns: ["workspace_name"] });
	const found: Target[] = [];
	for (let page = 1; found.length < maxTargets; page++) {
		const url = address(`/organizations/${segment(org)}/explorer`, { ...parameters, "page[number]": page, "page[size]": pageSize });
		const { data, meta } = await read(url + emptyFilters(parameters), undefined, false);
		found.push(...(Array.isArray(data) ? data : []).map(targetOf));
		if (!meta?.pagination?.["next-page"]) {
			break;
		}
	}
	return found.slice(0, maxTargets);
}

export type Selection = {
	readonly chosen: readonly Target[];
	readonly setChosen: (chosen: readonly Target[]) => void;
};

type BarProps = Selection & { readonly org: string; readonly query: Query; readonly total: number | undefined };

export function BulkBar({ org, query, total, chosen, setChosen }: BarProps) {
	const organization = useDocument(address(`/organizations/${segment(org)}`));
	const { error, attempt } = useAttempt();
	const none = chosen.length === 0 ? "select workspaces first" : undefined;
	const many = chosen.length > maxTargets ? `an action has at most ${count(maxTargets)} workspaces` : undefined;
	const reason = none ?? many;
	const mayRequest = may(organization.item, "can-create-change-requests");
	const done = (ids: readonly string[]) => setChosen(chosen.filter(({ id }) => !ids.includes(id)));
	const all = () => attempt(async () => setChosen(await targetsOf(org, query)));
	return (
		<section class="bulk" aria-label="Actions on workspaces">
			<div class="actions">
				{explorerActions.map((action) => (
					<DialogButton
						key={action.word}
						reason={reason}
						dialog={(close) => <ActionDialog action={action} targets={chosen} onDone={done} onClose={close} />}
					>
						{action.word}
					</DialogButton>
				))}
				<DialogButton
					reason={mayRequest ? reason : "you need to manage all workspaces or projects of the organization"}
					dialog={(close) => <ChangeRequestDialog org={org} targets={chosen} onDone={() => setChosen([])} onClose={close} />}
				>
					Create change request
				</DialogButton>
			</div>
			<div class="actions">
				<span>{counted(chosen.length, "workspace")} selected</span>
				{total !== undefined && total > chosen.length && (
					<Button
						reason={total > maxTargets ? `an action has at most ${count(maxTargets)} workspaces: use conditions` : undefined}
						onPress={all}
					>
						Select all {count(total)} of the result
					</Button>
				)}
				{chosen.length > 0 && <Button onPress={() => setChosen([])}>Clear selection</Button>}
			</div>
			<Problems of={error} fields={[]} />
		</section>
	);
}

type DialogProps = {
	readonly action: ExplorerAction;
	readonly targets: readonly Target[];
	readonly onDone: (ids: readonly string[]) => void;
	readonly onClose: () => void;
};

function ActionDialog({ action, targets, onDone, onClose }: DialogProps) {
	const [values, setValues] = useState<Values>({});
	const [sent, setSent] = useState<number | undefined>();
	const stopped = useStopped();
	const set = (name: string) => (value: string) => setValues({ ...values, [name]: value });
	const send = () =>
		sendEach({
			targets,
			word: action.done,
			send: (target) => action.send(target, values),
			onDone,
			onProgress: setSent,
			isStopped: () => stopped.current,
		}).finally(() => setSent(undefined));
	return (
		<Dialog
			title={`${action.word}: ${counted(targets.length, "workspace")}`}
			confirm={action.word}
			reason={targets.length === 0 ? "select workspaces first" : missingReason(action.fields, values)}
			stoppable
			onConfirm={send}
			onClose={onClose}
		>
			{action.fields.map(({ name, label, hint, required, maxLength, options }) =>
				options ? (
					<SelectField
						key={name}
						label={label}
						hint={hint}
						options={options}
						value={values[name] ?? options[0]?.[0] ?? ""}
						onValue={set(name)}
					/>
				) : (
					<TextField
						key={name}
						label={label}
						hint={hint}
						required={required ?? false}
						{...(maxLength && { maxLength })}
						value={values[name] ?? ""}
						onValue={set(name)}
					/>
				),
			)}
			<TargetList targets={targets} />
			<p class="hint">
				Each workspace is changed by a request of its own. If you close this dialog, the action ends after the current request.
			</p>
			{sent !== undefined && <progress aria-label="Workspaces that have answered" value={sent} max={targets.length} />}
		</Dialog>
	);
}

export function targetColumn({ chosen, setChosen }: Selection, rows: readonly Resource[]): Column {
	const ids = new Set(chosen.map(({ id }) => id));
	return selectColumn({
		rows,
		isChosen: (id) => ids.has(id),
		nameOf: (row) => targetOf(row).name,
		onToggle: (toggled, on) => setChosen(toggledTargets(chosen, toggled.map(targetOf), on)),
	});
}
