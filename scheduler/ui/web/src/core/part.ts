// SPDX-License-Identifier: MPL-2.0
// Parts of the bundle that load at their first use.

import { ping } from "./api.ts";
import { offerReload } from "./session.ts";

// partLoad offers a reload if the part is gone while the server answers: the server has another build.
export async function partLoad<T>(load: () => Promise<T>): Promise<T> {
	try {
		return await load();
	} catch (error) {
		if (await ping()) {
			offerReload();
		}
		throw error;
	}
}
