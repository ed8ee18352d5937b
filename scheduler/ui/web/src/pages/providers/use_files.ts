// SPDX-License-Identifier: MPL-2.0
// The files that are chosen for a provider's version.

import { useState } from "preact/hooks";
import { bytes, pathOnPage, read } from "../../core/api.ts";
import { useRead } from "../../core/hooks.ts";
import { flag, type Resource } from "../../core/resource.ts";
import type { Values } from "../../objects/fields.ts";
import { maxSumsBytes, sumsOf } from "./provider_files.ts";
import { versionUrl } from "./publish.ts";

async function sumsRead(file: File | undefined): Promise<ReadonlyMap<string, string> | undefined> {
	return file && file.size <= maxSumsBytes ? sumsOf(await file.text()) : undefined;
}

// The checksums of a verified version. The link of an earlier answer may have expired.
async function keptRead(url: string, stop: AbortSignal): Promise<ReadonlyMap<string, string>> {
	const version = (await read(url, stop)).data as Resource;
	return sumsOf(new TextDecoder().decode(await bytes(pathOnPage(version.links?.["shasums-download"] ?? ""), stop)));
}

// useFiles: the chosen files. A verified version has its checksums already.
export function useFiles(path: string, version: Resource | undefined) {
	const [sums, setSums] = useState<File>();
	const [chosen, setChosen] = useState<ReadonlyMap<string, string>>();
	const [signature, setSignature] = useState<File>();
	const [archives, setArchives] = useState<readonly File[]>([]);
	const verified = flag(version, "signature-verified");
	const url = verified && version ? versionUrl(path, version) : undefined;
	const kept = useRead(url, (stop) => keptRead(url ?? "", stop));
	const sumsChoose = async ([file]: readonly File[]) => {
		setSums(file);
		setChosen(await sumsRead(file));
	};
	const checksums = verified ? kept.value : chosen;
	return { sums, signature, archives, verified, checksums, error: kept.error, sumsChoose, setSignature, setArchives };
}

type Chosen = ReturnType<typeof useFiles>;

// missingOf: why nothing can be sent yet.
export function missingOf(values: Values, { sums, signature, archives, verified, checksums }: Chosen, wrong: boolean): string | undefined {
	const rows: readonly (readonly [boolean, string])[] = [
		[!values.version, "it needs a version"],
		[!values["key-id"], "it needs a GPG key"],
		[(values.protocols as readonly string[]).length === 0, "it needs a protocol"],
		[!(verified || (sums && signature)), "SHA256SUMS and its signature are not chosen"],
		[verified && !checksums, "SHA256SUMS is not read yet"],
		[!checksums?.size, "SHA256SUMS has no checksums, or more than 64 KiB"],
		[verified && archives.length === 0, "no archive is chosen"],
		[wrong, "a file can't be sent"],
	];
	return rows.find(([missing]) => missing)?.[1];
}
