// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from "preact/hooks";
import { TextField } from "../../components/field.tsx";
import { address, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { text } from "../../core/resource.ts";

const typingMs = 300;

function useLater(value: string): string {
	const [late, setLate] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setLate(value), typingMs);
		return () => clearTimeout(timer);
	}, [value]);
	return late;
}

type Props = {
	readonly token: string; // the id of an oauth-token or of a github-app-installation; "": none is chosen
	readonly value: string;
	readonly error: ApiError | undefined;
	readonly pointer: string;
	readonly onValue: (identifier: string) => void;
};

// A repository: suggestions of the provider, or an identifier that is typed.
export function RepositoryField({ token, value, error, pointer, onValue }: Props) {
	const [typing, setTyping] = useState(false); // a page that is only read asks the provider nothing
	const search = useLater(value);
	const owner = token.startsWith("ot-") ? "/oauth-tokens" : "/github-app/installation";
	const found = useDocument(
		typing && token ? address(`${owner}/${segment(token)}/repositories`, { "search[name]": search, "page[size]": 50 }) : undefined,
	);
	const names = found.items.map((item) => text(item, "identifier")).filter(Boolean);
	const hint = found.error
		? `The provider's list is not available (${found.error.message}). Type the identifier.`
		: "Type to search, or enter it as the provider writes it, such as org/repository.";
	return (
		<TextField
			label="Repository"
			hint={hint}
			error={error}
			pointer={pointer}
			maxLength={512}
			suggestions={names}
			value={value}
			onValue={(identifier) => {
				setTyping(true);
				onValue(identifier);
			}}
		/>
	);
}
