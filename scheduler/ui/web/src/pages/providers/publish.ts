// SPDX-License-Identifier: MPL-2.0
// Sends what a provider's version lacks. It can be called again after an error: what is there is not sent twice.

import { change, pathOnPage, read, segment } from "../../core/api.ts";
import { errorOf } from "../../core/errors.ts";
import { flag, type Resource, text } from "../../core/resource.ts";
import { upload } from "../../core/upload.ts";
import { archiveOf, type Sending } from "./provider_files.ts";

export type Publication = {
	readonly url: string; // of the version
	readonly sums: File | undefined; // undefined: the signature is verified
	readonly signature: File | undefined;
	readonly checksums: ReadonlyMap<string, string>;
	readonly archives: readonly File[];
	readonly stop: AbortSignal;
	readonly onVersion: (version: Resource) => void; // it has changed
	readonly onSending: (filename: string, sending: Sending) => void;
};

export async function versionCreate(path: string, attributes: Record<string, unknown>): Promise<Resource> {
	const { data } = await change("POST", `${path}/versions`, { data: { type: "registry-provider-versions", attributes } });
	return data as Resource;
}

export const versionUrl = (path: string, version: Resource) => `${path}/versions/${segment(text(version, "version"))}`;

async function fileSend({ stop, onSending }: Publication, file: File, link: string | null | undefined): Promise<void> {
	const tell = (state: Sending["state"], bytes: number) => onSending(file.name, { state, bytes });
	tell("sending", 0);
	try {
		if (!link) {
			throw errorOf(`${file.name} can't be uploaded in this session.`);
		}
		await upload(pathOnPage(link), file, (bytes) => tell("sending", bytes), stop);
		tell("sent", file.size);
	} catch (error) {
		tell("failed", 0);
		throw error;
	}
}

// The second of both files is verified with the first. One that the API has alone already must not be the second.
async function sumsSend(publication: Publication, version: Resource): Promise<void> {
	const { sums, signature, url, onVersion } = publication;
	const files = [
		[sums, "shasums-upload"],
		[signature, "shasums-sig-upload"],
	] as const;
	for (const [file, link] of flag(version, "shasums-sig-uploaded") ? [...files].reverse() : files) {
		if (file) {
			await fileSend(publication, file, version.links?.[link]);
		}
	}
	onVersion((await read(url)).data as Resource);
}

// The platform of an archive. One that is there with another checksum is replaced: engines do not find it.
async function platformMake(publication: Publication, platforms: readonly Resource[], file: File): Promise<Resource> {
	const { os = "", arch = "" } = archiveOf(file.name) ?? {};
	const shasum = publication.checksums.get(file.name) ?? "";
	const before = platforms.find((platform) => text(platform, "os") === os && text(platform, "arch") === arch);
	if (before && text(before, "filename") === file.name && text(before, "shasum") === shasum) {
		return before;
	}
	if (before && flag(before, "usable")) {
		throw errorOf(`The platform ${os}_${arch} has the archive ${text(before, "filename")}.`);
	}
	const url = `${publication.url}/platforms`;
	if (before) {
		await change("DELETE", `${url}/${segment(os)}/${segment(arch)}`);
	}
	const attributes = { os, arch, filename: file.name, shasum };
	return (await change("POST", url, { data: { type: "registry-provider-version-platforms", attributes } })).data as Resource;
}

export async function publish(publication: Publication): Promise<void> {
	const { url, archives, onSending } = publication;
	const version = (await read(url)).data as Resource;
	if (!flag(version, "signature-verified")) {
		await sumsSend(publication, version);
	}
	const platforms = (await read(`${url}/platforms?page%5Bsize%5D=100`)).data as readonly Resource[];
	for (const file of archives) {
		const platform = await platformMake(publication, platforms, file);
		if (flag(platform, "provider-binary-uploaded")) {
			onSending(file.name, { state: "sent", bytes: file.size });
		} else {
			await fileSend(publication, file, platform.links?.["provider-binary-upload"]);
		}
	}
}
