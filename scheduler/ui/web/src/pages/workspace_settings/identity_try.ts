// SPDX-License-Identifier: MPL-2.0
// Tries the credentials of a workspace: a plan-only run of an empty configuration, which gets them as every run does.

import { address, change, pathOnPage, segment } from "../../core/api.ts";
import { type Resource, text } from "../../core/resource.ts";

const blockSize = 512;

const octal = (value: number, size: number) => `${value.toString(8).padStart(size - 1, "0")}\0`;

// The header of a file in the ustar format (POSIX.1-1988).
export function tarHeader(name: string, size: number): Uint8Array {
	const fields = [
		name.padEnd(100, "\0"),
		octal(0o644, 8),
		octal(0, 8) + octal(0, 8),
		octal(size, 12) + octal(0, 12),
		" ".repeat(8), // the checksum counts as spaces
		`0${"\0".repeat(100)}ustar\0${"00"}`,
	];
	const header = new Uint8Array(blockSize);
	header.set(new TextEncoder().encode(fields.join("")));
	const sum = header.reduce((total, byte) => total + byte, 0);
	header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
	return header;
}

async function archiveOf(name: string, content: string): Promise<Blob> {
	const bytes = new TextEncoder().encode(content);
	const rest = new Uint8Array((blockSize - (bytes.length % blockSize)) % blockSize);
	const tar = new Blob([tarHeader(name, bytes.length) as BlobPart, bytes, rest, new Uint8Array(2 * blockSize)]);
	return new Response(tar.stream().pipeThrough(new CompressionStream("gzip"))).blob();
}

async function created(url: string, type: string, attributes: object, relationships?: object): Promise<Resource> {
	const document = await change("POST", url, { data: { type, attributes, ...(relationships && { relationships }) } });
	return document.data as Resource;
}

// credentialsTry returns the id of the run.
export async function credentialsTry(workspace: string): Promise<string> {
	const configuration = await created(address(`/workspaces/${segment(workspace)}/configuration-versions`), "configuration-versions", {
		"auto-queue-runs": false,
		speculative: true,
	});
	await change("PUT", pathOnPage(text(configuration, "upload-url")), await archiveOf("main.tf", "# Nothing to plan.\n"));
	const run = await created(
		address("/runs"),
		"runs",
		{ "plan-only": true, message: "Try the workspace's credentials" },
		{
			workspace: { data: { type: "workspaces", id: workspace } },
			"configuration-version": { data: { type: "configuration-versions", id: configuration.id } },
		},
	);
	return run.id;
}
