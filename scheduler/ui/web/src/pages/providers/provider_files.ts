// SPDX-License-Identifier: MPL-2.0
// The files of a provider's version, as they are chosen: names of archives, and lines of SHA256SUMS.

export type Archive = { readonly name: string; readonly version: string; readonly os: string; readonly arch: string };

const archiveName = /^terraform-provider-([A-Za-z0-9_-]+)_([^_]+)_([a-z0-9]+)_([a-z0-9]+)\.zip$/;

// archiveOf: what the name of an archive says. undefined: it is not the name of an archive.
export function archiveOf(filename: string): Archive | undefined {
	const [, name, version, os, arch] = archiveName.exec(filename) ?? [];
	return name && version && os && arch ? { name, version, os, arch } : undefined;
}

export const maxSumsBytes = 64 * 1024;

// sumsOf: the checksum of each file. The API refuses other lines.
export function sumsOf(text: string): ReadonlyMap<string, string> {
	const lines = text.split("\n").map((line) => /^([0-9a-f]{64}) [ *](.+?)\r?$/.exec(line));
	return new Map(lines.flatMap((line) => (line ? [[line[2] ?? "", line[1] ?? ""] as const] : [])));
}

type Wanted = {
	readonly provider: string;
	readonly version: string;
	readonly sums: ReadonlyMap<string, string> | undefined; // undefined: not chosen yet
};

// problemOf: why an archive can't be sent.
export function problemOf(filename: string, { provider, version, sums }: Wanted): string | undefined {
	const archive = archiveOf(filename);
	if (!archive) {
		return `Not named terraform-provider-${provider}_VERSION_OS_ARCH.zip`;
	}
	if (archive.name.toLowerCase() !== provider.toLowerCase()) {
		return `An archive of the provider ${archive.name}`;
	}
	if (archive.version !== version) {
		return `An archive of version ${archive.version}`;
	}
	return !sums || sums.has(filename) ? undefined : "SHA256SUMS has no line for it";
}

export type Sending = { readonly state: "sending" | "sent" | "failed"; readonly bytes: number };

// percent: how much of a file is sent, rounded down: 100 is the end.
export function percent(bytes: number, size: number): number {
	return size > 0 ? Math.min(100, Math.floor((bytes / size) * 100)) : 0;
}
