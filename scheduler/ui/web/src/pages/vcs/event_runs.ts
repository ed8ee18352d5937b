// SPDX-License-Identifier: MPL-2.0
import { useEffect } from "preact/hooks";
import { address, read, segment } from "../../core/api.ts";
import { operations } from "../runs/query.ts";

const pageSize = 100;
const mostPages = 20;

// useCommitRuns reads the runs of the commit with their plans into the store, again with each `round`. `wanted`: how many
// runs the page shows.
export function useCommitRuns(org: string, sha: string, wanted: number, round: number): void {
	useEffect(() => {
		if (!sha || wanted === 0) {
			return;
		}
		const abort = new AbortController();
		const readAll = async () => {
			for (let page = 1; page <= Math.min(mostPages, Math.ceil(wanted / pageSize)); page++) {
				const query = {
					"search[commit]": sha,
					"filter[operation]": operations.map(([name]) => name).join(","),
					include: "plan",
					"page[size]": pageSize,
					"page[number]": page,
				};
				await read(address(`/organizations/${segment(org)}/runs`, query), abort.signal);
			}
		};
		readAll().catch(() => {}); // the rows show the runs' ids until the next round
		return () => abort.abort();
	}, [org, sha, wanted, round]);
}
