// SPDX-License-Identifier: MPL-2.0
// Files of a version, from the browser.

import { address, change, pathOnPage, read } from "../../../core/api.ts";
import { ApiError, errorOf } from "../../../core/errors.ts";
import type { Resource } from "../../../core/resource.ts";

export const filePointer = "/file"; // of the errors of the file

function atFile(error: ApiError): ApiError {
	const problems = error.problems.map((problem) => ({ ...problem, pointer: filePointer }));
	return new ApiError(error.status, problems, error.requestId);
}

// Uploads the files of a version that exists. The link of an earlier try may have expired, so it is read first.
export async function versionUpload(path: string, version: string, file: File): Promise<void> {
	const found = (await read(address(`${path}/version`, { module_version: version }))).data as Resource;
	const link = found.links?.upload;
	try {
		if (!link) {
			throw new ApiError(0, [{ title: "", detail: `Version ${version} takes no files any more.`, pointer: "" }]);
		}
		await change("PUT", pathOnPage(link), file);
	} catch (failure) {
		throw atFile(errorOf(failure));
	}
}
