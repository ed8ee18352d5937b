// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { ChangeValues } from "../../changes/drawer.tsx";
import { ErrorPanel } from "../../components/error_panel.tsx";
import { SelectField } from "../../components/field.tsx";
import { Fold } from "../../components/fold.tsx";
import { Skeleton } from "../../components/states.tsx";
import { address, bytes, segment } from "../../core/api.ts";
import { count, counted } from "../../core/format.ts";
import { useDocument, useQuery, useRead } from "../../core/hooks.ts";
import { number, type Resource, text } from "../../core/resource.ts";
import { queryChange } from "../../core/router.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { type StateChange, stateChanges } from "./state_diff.ts";
import { type StatePart, statePartsOf } from "./state_file.ts";

async function partsOf(id: string, signal: AbortSignal): Promise<readonly StatePart[]> {
	const file = await bytes(address(`/state-versions/${segment(id)}/download`), signal);
	return statePartsOf(JSON.parse(new TextDecoder().decode(file)));
}

// The changes between two states. Sensitive values are blanked as soon as the files are read.
const changesOf = async (before: string, after: string, signal: AbortSignal) => {
	const [old, next] = await Promise.all([partsOf(before, signal), partsOf(after, signal)]);
	return stateChanges(old, next);
};

// The state's changes since another version: the one before it, or that of ?with=.
export function Compare({ view, state }: { readonly view: WorkspaceView; readonly state: Resource }) {
	const filters = { "filter[organization][name]": view.org, "filter[workspace][name]": view.name };
	const states = useDocument(address("/state-versions", { ...filters, "page[size]": 100 }));
	const others = states.items.filter((other) => other.id !== state.id && text(other, "hosted-state-download-url"));
	const serial = number(state, "serial") ?? 0;
	const chosen = useQuery().get("with") || others.find((other) => (number(other, "serial") ?? 0) < serial)?.id || others[0]?.id || "";
	const found = useRead(chosen ? `${chosen} ${state.id}` : undefined, (signal) => changesOf(chosen, state.id, signal));
	if (states.asOf > 0 && others.length === 0) {
		return null;
	}
	return (
		<section class="page-part">
			<h2>Changes</h2>
			<SelectField
				label="Compared with"
				value={chosen}
				options={others.map((other) => [other.id, `Serial ${count(number(other, "serial") ?? 0)}`] as const)}
				onValue={(id) => queryChange({ with: id })}
			/>
			{found.error && <ErrorPanel error={found.error} />}
			{found.value && <Changes changes={found.value} />}
			{!found.value && !found.error && <Skeleton lines={2} />}
		</section>
	);
}

const words = { create: "added", update: "changed", delete: "removed" } as const;
const glyphs = { create: "+", update: "~", delete: "−" } as const;
const tones = { create: "success", update: "running", delete: "failure" } as const;
const rowsAtOnce = 200;

function Changes({ changes }: { readonly changes: readonly StateChange[] }) {
	const [most, setMost] = useState(rowsAtOnce);
	if (changes.length === 0) {
		return <p class="muted">No differences.</p>;
	}
	return (
		<>
			<p>{counted(changes.length, "difference")}</p>
			{changes.slice(0, most).map(({ change, kind, action }) => (
				<Fold
					key={`${kind} ${change.row.address}`}
					open={changes.length === 1}
					summary={
						<>
							<span class={`mark ${tones[action]}`}>
								<span aria-hidden="true">{glyphs[action]}</span> {words[action]}
							</span>{" "}
							{kind === "output" && <span class="muted">output </span>}
							<code>{change.row.address}</code>
						</>
					}
				>
					{() => <ChangeValues change={change} />}
				</Fold>
			))}
			{changes.length > most && (
				<button type="button" class="button plain" onClick={() => setMost(most + 5 * rowsAtOnce)}>
					Show more: {counted(changes.length - most, "difference")}
				</button>
			)}
		</>
	);
}
