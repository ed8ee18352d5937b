// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { change } from "../core/api.ts";
import { Button } from "./button.tsx";
import { announce } from "./live_region.tsx";
import { TypedDialog } from "./typed_dialog.tsx";

type Props = {
	readonly word: string; // what it is, such as "version"
	readonly name: string;
	readonly url: string;
	readonly reason: string | undefined; // why it can't be deleted
	readonly children: ComponentChildren; // what the deletion means
	readonly onDone: () => unknown;
};

// A button that deletes an object after its name is typed.
export function DeleteNamed({ word, name, url, reason, children, onDone }: Props) {
	const [open, setOpen] = useState(false);
	const remove = async () => {
		await change("DELETE", url);
		announce(`${name}: deleted`);
		await onDone();
	};
	return (
		<>
			<Button label={`Delete ${word} ${name}`} reason={reason} onPress={() => setOpen(true)}>
				Delete
			</Button>
			{open && (
				<TypedDialog name={name} title={`Delete ${word} ${name}`} confirm="Delete" onConfirm={remove} onClose={() => setOpen(false)}>
					<p>{children}</p>
				</TypedDialog>
			)}
		</>
	);
}
