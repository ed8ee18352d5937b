// SPDX-License-Identifier: MPL-2.0
import { Button } from "../components/button.tsx";
import { Problems } from "../components/error_panel.tsx";
import { announce } from "../components/live_region.tsx";
import { address, change } from "../core/api.ts";
import { useAttempt } from "../core/hooks.ts";
import type { Resource } from "../core/resource.ts";
import { attributesOf, fieldsFor, relationshipsOf, valuesOf } from "./fields.ts";
import type { ObjectKind } from "./kinds.ts";
import { ObjectFields, pointersOf } from "./object_fields.tsx";
import { useTyped } from "./use_typed.ts";

type Attributes = Readonly<Record<string, unknown>>;

type Props = {
	readonly kind: Pick<ObjectKind, "type" | "fields" | "item">;
	readonly item: Resource;
	readonly reason: string | undefined; // why it can't be changed
	readonly word?: string;
	readonly said?: string; // after it was saved
	readonly sent?: (attributes: Attributes) => Attributes; // the attributes of the request, if they are not those of the fields
	readonly onSaved?: (attributes: Attributes) => unknown;
};

// A form for the attributes of an object. It sends those that the user has changed, and keeps them after an error.
export function SettingsForm({ kind, item, reason, word = "Save", said = "Saved", sent = (attributes) => attributes, onSaved }: Props) {
	const fields = fieldsFor(kind.fields, item);
	const [typed, onValue, reset] = useTyped();
	const { error, attempt } = useAttempt();
	const values = { ...valuesOf(fields, item), ...typed };
	const attributes = attributesOf(fields, values, item);
	const relationships = relationshipsOf(fields, values, item);
	const unchanged = Object.keys({ ...attributes, ...relationships }).length === 0 ? "nothing has changed" : undefined;
	const save = () =>
		attempt(async () => {
			const relations = Object.keys(relationships).length > 0 && { relationships };
			await change("PATCH", address(kind.item(item.id)), { data: { type: kind.type, attributes: sent(attributes), ...relations } });
			reset();
			announce(said);
			await onSaved?.(attributes);
		});
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				void (reason || unchanged || save());
			}}
		>
			<fieldset class="bare" disabled={reason !== undefined}>
				<ObjectFields fields={fields} values={values} error={error} onValue={onValue} />
			</fieldset>
			<Problems of={error} fields={pointersOf(fields)} />
			<div class="actions">
				<Button kind="primary" reason={reason ?? unchanged} onPress={save}>
					{word}
				</Button>
				{!unchanged && <Button onPress={reset}>Undo changes</Button>}
			</div>
		</form>
	);
}
