// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, bytes, change, segment } from "../../core/api.ts";
import { isMissing } from "../../core/errors.ts";
import { count } from "../../core/format.ts";
import { useAttempt, useRead } from "../../core/hooks.ts";
import { number, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import { type ObjectKind, wordOf } from "../../objects/kinds.ts";
import { ObjectPages } from "./object_page.tsx";
import { policyKinds } from "./words.ts";

const opaLevels = [
	["advisory", "Advisory: a failure is a warning"],
	["mandatory", "Mandatory: a failure waits for an override"],
] as const;

const sentinelLevels = [
	["advisory", "Advisory: a failure is a warning"],
	["soft-mandatory", "Soft mandatory: a failure waits for an override"],
	["hard-mandatory", "Hard mandatory: a failure ends the run"],
] as const;

function fieldsOf(policyKind: string | undefined): ObjectKind["fields"] {
	const isOpa = (values: Readonly<Record<string, unknown>>) => (policyKind ?? values.kind) !== "sentinel";
	return [
		{ name: "name", label: "Name", kind: "text", only: "create" },
		{ name: "kind", label: "Language", kind: "choice", options: policyKinds, initial: "opa", only: "create" },
		{ name: "description", label: "Description", kind: "text" },
		{
			name: "query",
			label: "Query",
			kind: "text",
			shown: isOpa,
			hint: "The Rego rule that has the reasons of a failure, such as terraform.deny.",
		},
		{
			name: "enforcement-level",
			label: "Enforcement",
			kind: "choice",
			options: policyKind === "sentinel" ? sentinelLevels : policyKind === "opa" ? opaLevels : [...opaLevels, ...sentinelLevels.slice(1)],
			initial: "advisory",
		},
	];
}

const kind: ObjectKind = {
	type: "policies",
	one: "policy",
	many: "Policies",
	empty: "No policies. A policy checks each plan of the workspaces that its policy set names.",
	name: (item) => text(item, "name"),
	item: (id) => `/policies/${segment(id)}`,
	opens: true,
	fields: fieldsOf(undefined),
	columns: [
		{ key: "kind", head: "Language", cell: (item) => wordOf(policyKinds, text(item, "kind")) },
		{ key: "level", head: "Enforcement", cell: (item) => wordOf([...opaLevels, ...sentinelLevels], text(item, "enforcement-level")) },
		{ key: "sets", head: "Policy sets", class: "wide number", cell: (item) => count(number(item, "policy-set-count") ?? 0) },
	],
	removes: "Policy sets lose it. Results of earlier runs stay.",
};

export default function Policies({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="policies"
			kind={kind}
			below="/policies"
			right="can-update-sentinel"
			what="manage policies"
			fieldsOf={(policy) => fieldsOf(text(policy, "kind"))}
		>
			{({ item, reason }) => <Source policy={item} reason={reason} />}
		</ObjectPages>
	);
}

// The text of the policy. A new policy has none.
function Source({ policy, reason }: { readonly policy: Resource; readonly reason: string | undefined }) {
	const path = kind.item(policy.id);
	const source = useRead(policy.links?.download ? path : undefined, async (signal) => {
		const text = await bytes(address(`${path}/download`), signal);
		return new TextDecoder().decode(text);
	});
	const [saved, setSaved] = useState<string | undefined>();
	const [typed, setTyped] = useState<string | undefined>();
	const { error, attempt } = useAttempt();
	const stored = saved ?? source.value ?? "";
	const save = () =>
		attempt(async () => {
			await change("PUT", address(`${path}/upload`), new Blob([typed ?? ""]));
			setSaved(typed);
			announce("The policy's text is saved");
		});
	const changed = typed !== undefined && typed !== stored;
	return (
		<section class="policy-source" aria-label="Text of the policy">
			<h3>Text</h3>
			<TextField
				label={text(policy, "kind") === "sentinel" ? "Sentinel" : "Rego"}
				lines={14}
				maxLength={1_000_000}
				value={typed ?? stored}
				onValue={setTyped}
			/>
			<Problems of={error ?? (isMissing(source.error) ? undefined : source.error)} />
			<Button kind="primary" reason={reason ?? (changed ? undefined : "nothing has changed")} onPress={save}>
				Save text
			</Button>
		</section>
	);
}
