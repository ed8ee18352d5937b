// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import type { Value, Values } from "./fields.ts";

type Typed = readonly [typed: Values, onValue: (name: string, value: Value) => void, reset: () => void];

// useTyped: what the user has typed in a form. It goes over the values of the form's object.
export function useTyped(): Typed {
	const [typed, setTyped] = useState<Values>({});
	return [typed, (name, value) => setTyped((before) => ({ ...before, [name]: value })), () => setTyped({})];
}
