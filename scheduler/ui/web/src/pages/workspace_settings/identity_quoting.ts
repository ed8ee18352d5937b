// SPDX-License-Identifier: MPL-2.0
// Values inside of commands and documents that a person pastes elsewhere.

// Text inside of quotation marks for JSON, and for YAML, CEL and go-bexpr, which read it in the same way.
export function quoted(value: string): string {
	return JSON.stringify(value);
}

export function json(value: unknown): string {
	return JSON.stringify(value, null, 2);
}

// One argument of a POSIX shell.
export function argument(value: string): string {
	return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

export type Flags = Readonly<Record<string, string>>;

// A command with one flag on each line, as all shells of the kind read it.
export function command(words: string, flags: Flags, assign = "="): string {
	const rest = Object.entries(flags).map(([name, value]) => `${name}${assign}${argument(value)}`);
	return [words, ...rest].join(" \\\n  ");
}

// A command that reads the document. No line of a JSON document is the word that ends it.
export function commandReading(words: string, value: unknown): string {
	return `${words} <<'EOF'\n${json(value)}\nEOF`;
}

// A value in a policy of AWS, which has variables such as ${aws:username}.
export function awsValue(value: string): string {
	return value.replaceAll(`\${`, `\${$}{`);
}

// A list of gcloud with one item: it splits at commas unless another separator is named before.
export function gcloudList(item: string): string {
	if (!/^\^|,/.test(item)) {
		return item;
	}
	const separator = [";", "|", "#", "~", "!"].find((sign) => !item.includes(sign)) ?? "::";
	return `^${separator}^${item}`;
}

// Control characters can end a line of a terminal, and others hide or reorder what is shown.
export function pasteable(value: string): boolean {
	return value !== "" && !/\p{C}|\p{Zl}|\p{Zp}/u.test(value);
}
