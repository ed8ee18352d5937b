// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../../components/fold.tsx";
import { Content } from "../../../components/states.tsx";
import { Chip, Mark } from "../../../components/status_mark.tsx";
import { address, segment } from "../../../core/api.ts";
import { counted } from "../../../core/format.ts";
import { useDocument } from "../../../core/hooks.ts";
import { type Resource, text } from "../../../core/resource.ts";
import type { Tone } from "../../../core/status.ts";
import { opaSets, type Policy, type PolicySet, sentinelSets } from "./policies.ts";

function toneOf(policy: Policy): Tone {
	return policy.state === "passed" ? "success" : policy.level === "advisory" ? "wait" : "failure";
}

// The title of a kind's output, and whether the output of a failed policy is open. The violations of OPA are its reasons.
type Output = { readonly title: string; readonly open: boolean };

const violations: Output = { title: "Output", open: true };
const trace: Output = { title: "Trace", open: false };

function PolicyLine({ policy, output }: { readonly policy: Policy; readonly output: Output }) {
	const tone = toneOf(policy);
	return (
		<li class="task">
			<div class="task-line" data-problem={tone === "failure" || undefined} tabIndex={-1}>
				<Mark tone={tone} icon={tone === "wait" ? "!" : undefined}>
					{policy.state}
				</Mark>
				<strong>{policy.name}</strong>
				<Chip>{policy.level}</Chip>
			</div>
			{policy.description && <p class="as-written">{policy.description}</p>}
			{policy.reason && <p class="as-written policy-reason">{policy.reason}</p>}
			{policy.output.trim() && (
				<Fold class="inner" open={output.open && policy.state === "failed"} summary={output.title}>
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys */}
					{() => <pre tabIndex={0}>{policy.output}</pre>}
				</Fold>
			)}
		</li>
	);
}

function headingOf(set: PolicySet): string {
	const failed = set.policies.filter((policy) => policy.state !== "passed").length;
	const all = counted(set.policies.length, "policy", "policies");
	if (set.error) {
		return "could not be evaluated";
	}
	return failed > 0 ? `${failed} of ${all} failed` : `${all} passed`;
}

function SetBox({ set, output }: { readonly set: PolicySet; readonly output: Output }) {
	return (
		<section class="policy-set">
			<h3>
				{set.name}: {headingOf(set)}
			</h3>
			{set.description && <p class="muted">{set.description}</p>}
			{set.error && <p class="note failure as-written">{set.error}</p>}
			<ul class="plain-list">
				{set.policies.map((policy, i) => (
					<PolicyLine key={`${policy.name} ${i}`} policy={policy} output={output} />
				))}
			</ul>
		</section>
	);
}

function Sets({ sets, output }: { readonly sets: readonly PolicySet[]; readonly output: Output }) {
	return (
		<>
			{sets.map((set) => (
				<SetBox key={set.name} set={set} output={output} />
			))}
		</>
	);
}

const evaluated = new Set(["passed", "failed", "errored", "overridden"]);

export function OpaContent({ evaluation }: { readonly evaluation: Resource }) {
	const there = evaluated.has(text(evaluation, "status"));
	const outcomes = useDocument(
		there ? address(`/policy-evaluations/${segment(evaluation.id)}/policy-set-outcomes`, { "page[size]": 100 }) : undefined,
	);
	return there ? (
		<Content of={outcomes}>{() => <Sets sets={opaSets(outcomes.items)} output={violations} />}</Content>
	) : (
		<p class="muted">The policies have not been evaluated yet.</p>
	);
}

export function SentinelContent({ check }: { readonly check: Resource }) {
	const sets = sentinelSets(check);
	return sets.length > 0 ? <Sets sets={sets} output={trace} /> : <p class="muted">The policies have not been evaluated yet.</p>;
}
