// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { queryChange } from "../core/router.ts";

const typingMs = 250;

type Props = { readonly label: string; readonly hint: string; readonly name: string; readonly value: string };

// A search whose text is in the query of the address, under `name`, shortly after the last key.
export function SearchField({ label, hint, name, value }: Props) {
	const [typed, setTyped] = useState(value);
	const known = useRef(value); // another text in the address comes from Back or a link, and not from this field
	if (known.current !== value) {
		known.current = value;
		setTyped(value);
	}
	useEffect(() => {
		if (typed === value) {
			return;
		}
		const timer = setTimeout(() => {
			known.current = typed;
			queryChange({ [name]: typed, page: "" });
		}, typingMs);
		return () => clearTimeout(timer);
	}, [typed, value, name]);
	return (
		<input type="search" aria-label={label} placeholder={hint} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
	);
}
