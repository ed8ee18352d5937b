// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { type Resource, text } from "../../core/resource.ts";
import { customDetails, leastDetails, levels } from "./access_levels.ts";
import type { EditProps } from "./list_section.tsx";

type Props = EditProps & {
	readonly workspace: string;
	readonly teams: readonly Resource[]; // without access of their own
	readonly name: string; // of the access's team
};

type Values = Readonly<Record<string, unknown>>;

function startOf(access: Resource | undefined): Values {
	return Object.fromEntries(customDetails.map(({ name }) => [name, access?.attributes[name] ?? leastDetails[name]]));
}

export function AccessDialog({ workspace, teams, item: access, name, onDone, onClose }: Props) {
	const [picked, setPicked] = useState<string | undefined>();
	const team = picked ?? teams[0]?.id; // they may come after the dialog was opened
	const [level, setLevel] = useState(text(access, "access") || "read");
	const [values, setValues] = useState(startOf(access));
	const save = async () => {
		const relationships = { team: { data: { type: "teams", id: team } }, workspace: { data: { type: "workspaces", id: workspace } } };
		const attributes = { access: level, ...(level === "custom" && values) };
		const data = { type: "team-workspaces", attributes, ...(!access && { relationships }) };
		await change(access ? "PATCH" : "POST", address(access ? `/team-workspaces/${segment(access.id)}` : "/team-workspaces"), { data });
		announce("The access is saved");
		await onDone();
	};
	const options = teams.map((one) => [one.id, text(one, "name")] as const);
	return (
		<Dialog
			title={access ? `Access of ${name}` : "Give access"}
			confirm="Save access"
			reason={access || team !== undefined ? undefined : "the teams are not loaded yet"}
			fields={["/data/relationships/team", "/data/attributes/access"]}
			onConfirm={save}
			onClose={onClose}
		>
			{(error: ApiError | undefined) => (
				<>
					{!access && (
						<SelectField
							label="Team"
							options={options}
							error={error}
							pointer="/data/relationships/team"
							value={team ?? ""}
							onValue={setPicked}
						/>
					)}
					<SelectField label="Access" options={levels} error={error} pointer="/data/attributes/access" value={level} onValue={setLevel} />
					{level === "custom" && <DetailFields values={values} onChange={(changes) => setValues({ ...values, ...changes })} />}
				</>
			)}
		</Dialog>
	);
}

function DetailFields({ values, onChange }: { readonly values: Values; readonly onChange: (changes: Values) => void }) {
	return (
		<>
			{customDetails.map(({ name, word, options }) =>
				options ? (
					<SelectField
						key={name}
						label={word}
						options={options}
						value={String(values[name])}
						onValue={(value) => onChange({ [name]: value })}
					/>
				) : (
					<CheckField key={name} label={word} checked={values[name] === true} onChecked={(on) => onChange({ [name]: on })} />
				),
			)}
		</>
	);
}
