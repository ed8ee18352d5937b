// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef } from "preact/hooks";
import { noticeShow, noticesOn } from "../../core/notices.ts";
import { type Resource, text } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { needWord, useNeeds } from "./needs.ts";

function runNotice(org: string, run: Resource): void {
	const ws = text(store.one(run, "workspace"), "name");
	noticeShow({
		title: `${ws} needs you`,
		body: `${needWord(run)}: ${text(run, "message") || run.id}`,
		tag: run.id,
		onClick: () => navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws, run: run.id })),
	});
}

// Shows nothing. It notifies of runs that come to wait for the user while the page does not have the focus.
export default function NeedsNotices({ org }: { readonly org: string }) {
	const { list, runs } = useNeeds(org, "workspace");
	const known = useRef<ReadonlySet<string> | undefined>(undefined);
	useEffect(() => {
		if (list.asOf === 0) {
			return;
		}
		const before = known.current;
		known.current = new Set(runs.map((run) => run.id));
		if (before && noticesOn() && !document.hasFocus()) {
			for (const run of runs.filter((candidate) => !before.has(candidate.id))) {
				runNotice(org, run);
			}
		}
	});
	return null;
}
