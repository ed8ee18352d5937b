// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change } from "../../core/api.ts";
import type { Resource } from "../../core/resource.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import { bodyOf, fieldsOf, firstValues, valueSet } from "./providers.ts";

type Props = {
	readonly path: string; // of the organization in the API
	readonly onDone: (made: Resource) => unknown;
	readonly onClose: () => void;
};

// A new connection. The provider is chosen first; the other fields depend on it.
export function ConnectionDialog({ path, onDone, onClose }: Props) {
	const [values, setValues] = useState(firstValues);
	const fields = fieldsOf(values).map((field) =>
		field.name === "service-provider" ? { ...field, options: [["", "Choose a provider"] as const, ...(field.options ?? [])] } : field,
	);
	const save = async () => {
		const answer = await change("POST", address(`${path}/oauth-clients`), { data: { type: "oauth-clients", attributes: bodyOf(values) } });
		announce("Connection created");
		if (answer.data && !Array.isArray(answer.data)) {
			onDone(answer.data as Resource);
		}
	};
	return (
		<Dialog
			title="New connection"
			confirm="Create"
			reason={values["service-provider"] ? undefined : "choose a provider"}
			fields={pointersOf(fields)}
			onConfirm={save}
			onClose={onClose}
		>
			{(error) => (
				<ObjectFields
					fields={fields}
					values={values}
					error={error}
					onValue={(name, value) => setValues((before) => valueSet(before, name, value))}
				/>
			)}
		</Dialog>
	);
}
