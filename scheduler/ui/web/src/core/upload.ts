// SPDX-License-Identifier: MPL-2.0
// Uploads of large files: fetch does not tell how much of a body is sent.

import { refused } from "./api.ts";
import { answerReceived, requestFailed } from "./connection.ts";
import { offlineError } from "./errors.ts";

// upload: PUT of a file to a signed address. It throws if it is stopped.
export function upload(url: string, file: Blob, onSent: (bytes: number) => void, stop: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		const fail = () => {
			if (!stop.aborted) {
				requestFailed();
			}
			reject(offlineError());
		};
		request.open("PUT", url);
		request.setRequestHeader("Content-Type", "application/octet-stream");
		request.upload.onprogress = ({ loaded }) => onSent(loaded);
		request.onerror = fail;
		request.onabort = fail;
		request.onload = async () => {
			const { status, responseText } = request;
			answerReceived(status);
			if (status < 300) {
				resolve();
			} else {
				const headers = { "X-Request-Id": request.getResponseHeader("X-Request-Id") ?? "" };
				reject(await refused(new Response(responseText, { status, headers })));
			}
		};
		stop.addEventListener("abort", () => request.abort());
		request.send(file);
	});
}
