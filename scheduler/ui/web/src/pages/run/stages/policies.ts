// SPDX-License-Identifier: MPL-2.0
// The results of OPA's and Sentinel's policies in one form, failed ones first.

import { listIn, membersOf, object, type Resource, text, textIn } from "../../../core/resource.ts";

export type Policy = {
	readonly name: string;
	readonly level: string;
	readonly state: "passed" | "failed" | "errored";
	readonly description: string;
	readonly reason: string; // of an errored one
	readonly output: string; // the violations of OPA, or the trace of Sentinel
};
export type PolicySet = {
	readonly name: string;
	readonly error: string;
	readonly description: string;
	readonly policies: readonly Policy[];
};

const isAdvisory = (policy: Policy) => policy.level === "advisory";
const rank = (policy: Policy) => (policy.state === "passed" ? 2 : isAdvisory(policy) ? 1 : 0);

function sorted(policies: readonly Policy[]): readonly Policy[] {
	return [...policies].sort((a, b) => rank(a) - rank(b));
}

function stateOf(status: string): Policy["state"] {
	return status === "passed" || status === "errored" ? status : "failed";
}

// opaSets: from the outcomes of policy sets.
export function opaSets(outcomes: readonly Resource[]): readonly PolicySet[] {
	return outcomes.map((set) => ({
		name: text(set, "policy-set-name"),
		description: text(set, "policy-set-description"),
		error: text(set, "error"),
		policies: sorted(
			listIn(set.attributes.outcomes).map((outcome) => {
				const state = stateOf(textIn(outcome, "status"));
				const lines = listIn(outcome.output).map((line) => textIn(line, "print"));
				return {
					name: textIn(outcome, "policy_name"),
					level: textIn(outcome, "enforcement_level"),
					state,
					description: textIn(outcome, "description"),
					reason: state === "errored" ? (lines.shift() ?? "") : "",
					output: lines.join("\n"),
				};
			}),
		),
	}));
}

// sentinelSets: from the result of a policy check.
export function sentinelSets(check: Resource | undefined): readonly PolicySet[] {
	const sets = membersOf(membersOf(object(check, "result").sentinel).data);
	return Object.entries(sets).map(([name, source]) => {
		const set = membersOf(source);
		return {
			name,
			description: "",
			error: textIn(set, "error"),
			policies: sorted(
				listIn(set.policies).map((policy) => ({
					name: textIn(policy, "policy").replace(`${name}/`, ""),
					level: textIn(policy, "enforcement-level"),
					state: policy.result === true ? "passed" : policy.error ? "errored" : "failed",
					description: textIn(membersOf(policy.trace), "description"),
					reason: textIn(policy, "error"),
					output: textIn(membersOf(policy.trace), "print"),
				})),
			),
		};
	});
}

// failedNames: what an override overrides.
export function failedNames(sets: readonly PolicySet[]): readonly string[] {
	return sets.flatMap((set) =>
		set.policies.filter((policy) => policy.state !== "passed" && !isAdvisory(policy)).map((policy) => policy.name),
	);
}
