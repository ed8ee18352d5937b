// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";

type Props = {
	readonly name: string | undefined; // that has to be typed; undefined: none
	readonly title: string;
	readonly confirm: string;
	readonly children: ComponentChildren;
	readonly onConfirm: () => Promise<unknown>;
	readonly onClose: () => void;
};

// A dialog that does what can't be undone, after the name of the object is typed.
export function TypedDialog({ name, children, ...rest }: Props) {
	const [typed, setTyped] = useState("");
	return (
		<Dialog danger reason={name === undefined || typed === name ? undefined : "the name is not typed"} {...rest}>
			{children}
			{name !== undefined && <TextField label={`Type ${name} to confirm`} value={typed} onValue={setTyped} />}
		</Dialog>
	);
}
