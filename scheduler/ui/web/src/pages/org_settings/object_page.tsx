// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy_id.tsx";
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { type Loaded, useDocument } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import { navigate } from "../../core/router.ts";
import type { ObjectKind } from "./kinds.ts";
import { RemoveDialog } from "./object_dialog.tsx";
import { SettingsForm } from "./settings_form.tsx";

type Props = {
	readonly kind: ObjectKind;
	readonly id: string;
	readonly include?: string;
	readonly reason: string | undefined; // why it can't be changed
	readonly fieldsOf?: (item: Resource) => ObjectKind["fields"]; // if they depend on the object
	readonly children: (item: Resource, of: Loaded) => ComponentChildren;
};

// One object (?id=): its attributes, what belongs to it, and Delete.
export function ObjectPage({ kind, id, include, reason, fieldsOf, children }: Props) {
	const of = useDocument(address(kind.item(id), { include }));
	const [removing, setRemoving] = useState(false);
	const back = location.pathname;
	return (
		<>
			<p>
				<a href={back}>All {kind.many.toLowerCase()}</a>
			</p>
			<Content of={of}>
				{() =>
					of.item && (
						<>
							<h2>
								{kind.name(of.item)} <CopyId id={of.item.id} />
							</h2>
							{kind.fields.length > 0 && (
								<SettingsForm kind={fieldsOf ? { ...kind, fields: fieldsOf(of.item) } : kind} item={of.item} reason={reason} />
							)}
							{children(of.item, of)}
							<h3>{kind.remove ?? "Delete"}</h3>
							<p>{kind.removes}</p>
							<Button kind="danger" reason={reason} onPress={() => setRemoving(true)}>
								{kind.remove ?? "Delete"} {kind.one}
							</Button>
							{removing && <RemoveDialog kind={kind} item={of.item} onDone={() => navigate(back)} onClose={() => setRemoving(false)} />}
						</>
					)
				}
			</Content>
		</>
	);
}
