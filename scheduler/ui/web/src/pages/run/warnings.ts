// SPDX-License-Identifier: MPL-2.0
// Advisory checks that failed: the run goes on, and its header says so.

import { object, text } from "../../core/resource.ts";
import { advisoryFailures, type Parts } from "./stages/stage_list.ts";

export type Warning = { readonly stage: string; readonly text: string };

export function warningsOf(parts: Parts): readonly Warning[] {
	const tasks = Object.entries(parts.tasks).flatMap(([stage, results]) =>
		advisoryFailures(results).map((result) => ({ stage, text: `${text(result, "task-name")} failed (advisory)` })),
	);
	const policies = (["opa", "sentinel"] as const).flatMap((stage) => {
		const counts = { ...object(parts[stage], "result-count"), ...object(parts[stage], "result") };
		const failed = Number(counts["advisory-failed"] ?? 0);
		return failed > 0 ? [{ stage, text: `${failed} advisory ${failed === 1 ? "policy" : "policies"} failed` }] : [];
	});
	return [...tasks, ...policies];
}
