// SPDX-License-Identifier: MPL-2.0
// The results of OPA's and Sentinel's policies in one form, failed ones first.

import { list, object, type Resource, text } from "../../../core/resource.ts";

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

type Json = Readonly<Record<string, unknown>>;

const record = (value: unknown): Json => (value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {});
const string = (value: unknown) => (typeof value === "string" ? value : "");
const items = (value: unknown) => (Array.isArray(value) ? value.map(record) : []);

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
			list(set, "outcomes")
				.map(record)
				.map((outcome) => {
					const state = stateOf(string(outcome.status));
					const lines = items(outcome.output).map((line) => string(line.print));
					return {
						name: string(outcome.policy_name),
						level: string(outcome.enforcement_level),
						state,
						description: string(outcome.description),
						reason: state === "errored" ? (lines.shift() ?? "") : "",
						output: lines.join("\n"),
					};
				}),
		),
	}));
}

// sentinelSets: from the result of a policy check.
export function sentinelSets(check: Resource | undefined): readonly PolicySet[] {
	const sets = record(record(object(check, "result").sentinel).data);
	return Object.entries(sets).map(([name, source]) => {
		const set = record(source);
		return {
			name,
			description: "",
			error: string(set.error),
			policies: sorted(
				items(set.policies).map((policy) => ({
					name: string(policy.policy).replace(`${name}/`, ""),
					level: string(policy["enforcement-level"]),
					state: policy.result === true ? "passed" : policy.error ? "errored" : "failed",
					description: string(record(policy.trace).description),
					reason: string(policy.error),
					output: string(record(policy.trace).print),
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
