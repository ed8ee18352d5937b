// SPDX-License-Identifier: MPL-2.0
import { useMemo, useState } from "preact/hooks";
import { CopyButton } from "../components/copy.tsx";
import { Content } from "../components/states.tsx";
import { address, segment } from "../core/api.ts";
import { counted } from "../core/format.ts";
import { toggled, useDocument } from "../core/hooks.ts";
import type { Resource } from "../core/resource.ts";
import { Attribute } from "./attribute.tsx";
import { changeHcl } from "./hcl.ts";
import { type Change, type ChangeRow, changeOf } from "./summary.ts";
import { rowsOf, treeOf } from "./tree.ts";

const rowsAtOnce = 300;

type Props = { readonly plan: string; readonly row: ChangeRow };

// One change in place: its attributes before and after.
export function Drawer({ plan, row }: Props) {
	const document = useDocument(row.index >= 0 ? address(`/plans/${segment(plan)}/changes/${row.index}`) : undefined);
	return (
		<div class="drawer">
			<Content of={document}>{() => (document.item ? <PlanChange resource={document.item} /> : <p>It is not there.</p>)}</Content>
		</div>
	);
}

function Facts({ change }: { readonly change: Change }) {
	const facts = [
		["Provider", change.provider],
		["Import id", change.importId],
		["Moved from", change.row.previousAddress],
	].filter(([, value]) => value);
	return (
		<p class="muted drawer-facts">
			{facts.map(([word, value]) => (
				<span key={word}>
					{word} <bdi>{value}</bdi>
				</span>
			))}
		</p>
	);
}

function PlanChange({ resource }: { readonly resource: Resource }) {
	const change = useMemo(() => changeOf(resource), [resource]);
	return <ChangeValues change={change} />;
}

// The attributes of a change, of a plan or between two states.
export function ChangeValues({ change }: { readonly change: Change }) {
	const nodes = useMemo(() => treeOf(change), [change]);
	const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
	const [most, setMost] = useState(rowsAtOnce);
	const stateOnly = change.row.action === "no-op" || change.row.action === "forget";
	const rows = useMemo(() => rowsOf(nodes, changed, stateOnly), [nodes, changed, stateOnly]);
	const toggle = (id: string) => setChanged(toggled(changed, id));
	if (change.row.unreadable) {
		return <p>The values of this change are too large to be shown. The plan's JSON has them.</p>;
	}
	return (
		<>
			<Facts change={change} />
			{change.row.list === "drift" && <p class="note">Terraform found this change. It was made outside of Terraform.</p>}
			<div class="attributes">
				<div class="attribute attribute-titles" aria-hidden="true">
					<span />
					<span>Before</span>
					<span>After</span>
				</div>
				{rows.slice(0, most).map((row) =>
					row.kind === "node" ? (
						<Attribute key={row.id} row={row} onToggle={() => toggle(row.id)} />
					) : (
						<button
							key={row.id}
							type="button"
							class="unchanged"
							style={{ marginLeft: `${row.depth * 16}px` }}
							aria-expanded={row.open}
							onClick={() => toggle(row.id)}
						>
							{row.open ? "Hide " : ""}
							{row.count} unchanged
						</button>
					),
				)}
				{rows.length === 0 && <p class="muted">No attributes.</p>}
			</div>
			{rows.length > most && (
				<button type="button" onClick={() => setMost(most + 10 * rowsAtOnce)}>
					Show more: {counted(rows.length - most, "row")}
				</button>
			)}
			{change.generated && (
				<details>
					<summary>Generated configuration</summary>
					<pre>{change.generated}</pre>
				</details>
			)}
			<CopyButton text={() => changeHcl(change)} label="Copy as HCL" word="Copy as HCL" />
		</>
	);
}
