// SPDX-License-Identifier: MPL-2.0
import { useId } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CheckField, FieldError, Suggestions, TextField } from "../../components/field.tsx";
import { address, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { text } from "../../core/resource.ts";
import type { WorkspaceView } from "./frame.tsx";
import { listWith, type QueueOrder, type QueueVariable } from "./queue_order.ts";

type Props = {
	readonly view: WorkspaceView;
	readonly order: QueueOrder;
	readonly error: ApiError | undefined;
	readonly onChange: (changes: Partial<QueueOrder>) => void;
};

export function QueueAdvanced({ view, order, error, onChange }: Props) {
	const resources = useDocument(address(`/workspaces/${segment(view.workspace.id)}/resources`, { "page[size]": 100 }));
	const known = resources.items.map((item) => text(item, "address"));
	return (
		<>
			<Addresses
				label="Target addresses"
				known={known}
				list={order.targets}
				typed={order.typedTarget}
				problem={error?.at("/data/attributes/target-addrs")}
				onTyped={(typedTarget) => onChange({ typedTarget })}
				onList={(targets) => onChange({ targets })}
			/>
			<Addresses
				label="Replace addresses"
				known={known}
				list={order.replaced}
				typed={order.typedReplaced}
				problem={error?.at("/data/attributes/replace-addrs")}
				onTyped={(typedReplaced) => onChange({ typedReplaced })}
				onList={(replaced) => onChange({ replaced })}
			/>
			<CheckField
				label="Skip refresh"
				hint="Plans with the state as it is, without asking the providers."
				checked={order.skipRefresh}
				onChecked={(skipRefresh) => onChange({ skipRefresh })}
			/>
			<CheckField
				label="Debugging mode"
				hint="Logs of terraform at level TRACE."
				checked={order.debugging}
				onChecked={(debugging) => onChange({ debugging })}
			/>
			{order.mode === "plan" && (
				<TextField
					label="Terraform version"
					hint={`Only for plan-only runs. The workspace has ${text(view.workspace, "terraform-version")}.`}
					value={order.version}
					onValue={(version) => onChange({ version })}
					error={error}
					pointer="/data/attributes/terraform-version"
				/>
			)}
			<Variables list={order.variables} problem={error?.at("/data/attributes/variables")} onList={(variables) => onChange({ variables })} />
		</>
	);
}

type AddressesProps = {
	readonly label: string;
	readonly known: readonly string[]; // of the state
	readonly list: readonly string[];
	readonly typed: string; // not added to the list yet
	readonly problem: string | undefined;
	readonly onTyped: (typed: string) => void;
	readonly onList: (list: readonly string[]) => void;
};

// Addresses of resources; those of the state are suggested.
function Addresses({ label, known, list, typed, problem, onTyped, onList }: AddressesProps) {
	const id = useId();
	const add = () => {
		onList(listWith(list, typed));
		onTyped("");
	};
	const key = (event: KeyboardEvent) => {
		if (event.key === "Enter") {
			event.preventDefault();
			add();
		}
	};
	return (
		<div class="field">
			<label for={id}>{label}</label>
			<div class="actions">
				<input
					id={id}
					list={`${id}-known`}
					autocomplete="off"
					value={typed}
					onInput={(event) => onTyped(event.currentTarget.value)}
					onKeyDown={key}
				/>
				<Button onPress={add} label={`Add to ${label.toLowerCase()}`}>
					Add
				</Button>
			</div>
			<Suggestions id={`${id}-known`} texts={known} />
			<FieldError>{problem}</FieldError>
			{list.length > 0 && (
				<ul class="bullet-list" aria-label={label}>
					{list.map((one) => (
						<li key={one}>
							<code>{one}</code>{" "}
							<button
								type="button"
								class="icon-button"
								aria-label={`Remove ${one}`}
								onClick={() => onList(list.filter((other) => other !== one))}
							>
								✕
							</button>
						</li>
					))}
				</ul>
			)}
		</div>
	);
}

type VariablesProps = {
	readonly list: readonly QueueVariable[];
	readonly problem: string | undefined;
	readonly onList: (list: readonly QueueVariable[]) => void;
};

function Variables({ list, problem, onList }: VariablesProps) {
	const set = (at: number, changes: Partial<QueueVariable>) => onList(list.map((one, i) => (i === at ? { ...one, ...changes } : one)));
	return (
		<fieldset class="variables">
			<legend>Variables for this run</legend>
			<p class="hint">Terraform variables. A value is HCL: a text stands in quotes. Anyone who may read the run can read them.</p>
			{list.map((one, i) => (
				<div class="actions" key={i}>
					<input
						aria-label={`Name ${i + 1}`}
						placeholder="name"
						value={one.key}
						onInput={(event) => set(i, { key: event.currentTarget.value })}
					/>
					<input
						aria-label={`Value ${i + 1}`}
						placeholder={'"value"'}
						value={one.value}
						onInput={(event) => set(i, { value: event.currentTarget.value })}
					/>
					<Button label={`Remove variable ${i + 1}`} onPress={() => onList(list.filter((_, other) => other !== i))}>
						✕
					</Button>
				</div>
			))}
			<FieldError>{problem}</FieldError>
			<Button onPress={() => onList([...list, { key: "", value: "" }])}>Add a variable</Button>
		</fieldset>
	);
}
