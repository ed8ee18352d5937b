// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button, DialogButton } from "../../components/button.tsx";
import { CheckList } from "../../components/field.tsx";
import { Fold } from "../../components/fold.tsx";
import { address, segment } from "../../core/api.ts";
import { useQuery } from "../../core/hooks.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { addressOf, type Condition, fieldOf, needsValue, operatorsOf, parametersOf, type Query, viewOf } from "./query.ts";
import { SaveDialog } from "./saved_views.tsx";
import { fieldWord, operatorWord } from "./words.ts";

const maxConditions = 32;

type Props = { readonly org: string; readonly query: Query };

// The conditions and columns of a query. They take effect with "Run query".
export function Builder({ org, query }: Props) {
	const [conditions, setConditions] = useState(query.conditions);
	const [columns, setColumns] = useState(query.columns);
	const view = viewOf(query.type);
	const saved = useQuery().get("view") ?? "";
	const fields = view?.fields ?? [];
	const run = () => navigate(`${pathTo("/app/:org/explorer", { org })}?${addressOf({ ...query, conditions, columns }, saved)}`);
	const change = (at: number, condition: Condition | undefined) =>
		setConditions(conditions.flatMap((one, number) => (number !== at ? [one] : condition ? [condition] : [])));
	const add = () => setConditions([...conditions, { field: fields[0]?.name ?? "", operator: operatorsOf(fields[0])[0] ?? "", value: "" }]);
	return (
		<section class="panel" aria-label="Query">
			<form
				class="form"
				onSubmit={(event) => {
					event.preventDefault();
					run();
				}}
			>
				<h2>Conditions</h2>
				{conditions.length === 0 && <p class="muted">None: all rows are shown.</p>}
				{conditions.map((condition, at) => (
					<ConditionRow key={at} type={query.type} number={at + 1} condition={condition} onChange={(changed) => change(at, changed)} />
				))}
				<div class="actions">
					<Button reason={conditions.length < maxConditions ? undefined : `a query has at most ${maxConditions} conditions`} onPress={add}>
						Add condition
					</Button>
				</div>
				<Fold summary="Columns" open={false}>
					{() => (
						<CheckList
							legend="Columns that are shown"
							options={fields.map((field) => [field.name, fieldWord(field.name)] as const)}
							chosen={columns.length > 0 ? columns : fields.map((field) => field.name)}
							onChosen={(chosen) => setColumns(chosen.length === fields.length ? [] : chosen)}
						/>
					)}
				</Fold>
				<div class="actions">
					<button type="submit" class="button primary">
						Run query
					</button>
					<DialogButton dialog={(close) => <SaveDialog org={org} query={query} onClose={close} />}>Save view</DialogButton>
					<a
						class="button plain"
						href={address(`/organizations/${segment(org)}/explorer/export/csv`, parametersOf(query))}
						download="explorer.csv"
					>
						Download CSV
					</a>
				</div>
			</form>
		</section>
	);
}

type RowProps = {
	readonly type: string;
	readonly number: number;
	readonly condition: Condition;
	readonly onChange: (condition: Condition | undefined) => void;
};

function ConditionRow({ type, number, condition, onChange }: RowProps) {
	const view = viewOf(type);
	const field = view && fieldOf(view, condition.field);
	const operators = operatorsOf(field);
	const fieldChange = (name: string) => {
		const known = operatorsOf(view && fieldOf(view, name));
		onChange({ ...condition, field: name, operator: known.includes(condition.operator) ? condition.operator : (known[0] ?? "") });
	};
	return (
		<fieldset class="filters condition">
			<legend class="sr-only">Condition {number}</legend>
			<select
				aria-label={`Field of condition ${number}`}
				value={condition.field}
				onChange={(event) => fieldChange(event.currentTarget.value)}
			>
				{view?.fields.map(({ name }) => (
					<option key={name} value={name}>
						{fieldWord(name)}
					</option>
				))}
			</select>
			<select
				aria-label={`Operator of condition ${number}`}
				value={condition.operator}
				onChange={(event) => onChange({ ...condition, operator: event.currentTarget.value })}
			>
				{operators.map((operator) => (
					<option key={operator} value={operator}>
						{operatorWord(operator)}
					</option>
				))}
			</select>
			{needsValue(condition.operator) && field?.kind === "FLAG" && (
				<select
					aria-label={`Value of condition ${number}`}
					value={condition.value}
					onChange={(event) => onChange({ ...condition, value: event.currentTarget.value })}
				>
					<option value="">Choose</option>
					<option value="true">true</option>
					<option value="false">false</option>
				</select>
			)}
			{needsValue(condition.operator) && field?.kind !== "FLAG" && (
				<input
					type={(field?.kind === "NUMBER" || field?.kind === "DECIMAL" ? "number" : "text") as "number"}
					step="any"
					aria-label={`Value of condition ${number}`}
					placeholder={field?.kind === "TIME" ? "2026-11-21T01:25:00Z" : ""}
					maxLength={1000}
					required={field?.kind !== "TEXT"}
					value={condition.value}
					onInput={(event) => onChange({ ...condition, value: event.currentTarget.value })}
				/>
			)}
			<Button label={`Remove condition ${number}`} onPress={() => onChange(undefined)}>
				Remove
			</Button>
		</fieldset>
	);
}
