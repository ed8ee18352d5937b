// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { change } from "../core/api.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { announce } from "./live_region.tsx";

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
	const [typed, setTyped] = useState("");
	const close = () => {
		setOpen(false);
		setTyped("");
	};
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
				<Dialog
					title={`Delete ${word} ${name}`}
					confirm="Delete"
					danger
					reason={typed === name ? undefined : "the name is not typed"}
					onConfirm={remove}
					onClose={close}
				>
					<p>{children}</p>
					<TextField label={`Type ${name} to confirm`} value={typed} onValue={setTyped} />
				</Dialog>
			)}
		</>
	);
}
