// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change } from "../../core/api.ts";
import { useAttempt, useDocument } from "../../core/hooks.ts";
import { type Linkage, linksOf, type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";

// Objects that another one can name: where they are listed, and how the list is searched.
export type Linked = {
	readonly relation: string;
	readonly type: string;
	readonly one: string;
	readonly many: string;
	readonly listPath: string;
	readonly search: string; // a query parameter
	readonly name?: (item: Resource) => string;
};

type Props = {
	readonly item: Resource;
	readonly linked: Linked;
	readonly change: (method: "POST" | "DELETE", id: string) => Promise<unknown>;
	readonly empty: string;
	readonly reason: string | undefined;
	readonly onDone: () => Promise<void>;
};

// byPath: POST to the path adds the object, DELETE removes it.
export function byPath(path: string, type: string): Props["change"] {
	return (method, id) => change(method, address(path), { data: [{ type, id }] });
}

const plainName = (item: Resource) => text(item, "name");

// The objects that a relation names, with Add and Remove.
export function RelationList({ item, linked, change: send, empty, reason, onDone }: Props) {
	const [adding, setAdding] = useState(false);
	const { error, attempt } = useAttempt();
	const links = linksOf(item, linked.relation);
	const nameOf = (link: Linkage) => {
		const target = store.get(link);
		return (target && (linked.name ?? plainName)(target)) || link.id;
	};
	const act = async (method: "POST" | "DELETE", id: string) => {
		await send(method, id);
		announce(method === "POST" ? "Added" : "Removed");
		await onDone();
	};
	return (
		<section aria-label={linked.many}>
			<div class="list-head">
				<h3>{linked.many}</h3>
				<Button reason={reason} onPress={() => setAdding(true)}>
					Add {linked.one}
				</Button>
			</div>
			<Problems of={error} />
			{links.length === 0 && <p class="muted">{empty}</p>}
			<ul class="row-list">
				{links.map((link) => (
					<li key={link.id}>
						{nameOf(link)}
						{!reason && (
							<Button label={`Remove ${nameOf(link)}`} onPress={() => attempt(() => act("DELETE", link.id))}>
								Remove
							</Button>
						)}
					</li>
				))}
			</ul>
			{adding && <AddDialog linked={linked} taken={links} onAdd={(id) => act("POST", id)} onClose={() => setAdding(false)} />}
		</section>
	);
}

type AddProps = {
	readonly linked: Linked;
	readonly taken: readonly Linkage[];
	readonly onAdd: (id: string) => Promise<unknown>;
	readonly onClose: () => void;
};

function AddDialog({ linked, taken, onAdd, onClose }: AddProps) {
	const [search, setSearch] = useState("");
	const [id, setId] = useState("");
	const found = useDocument(address(linked.listPath, { [linked.search]: search, "page[size]": 50 }));
	const free = found.items.filter((item) => !taken.some((link) => link.id === item.id));
	const options = [
		["", free.length ? "Choose" : "Nothing matches"] as const,
		...free.map((item) => [item.id, (linked.name ?? plainName)(item)] as const),
	];
	const chosen = free.some((item) => item.id === id);
	return (
		<Dialog
			title={`Add ${linked.one}`}
			confirm="Add"
			reason={chosen ? undefined : "nothing is chosen"}
			onConfirm={() => onAdd(id)}
			onClose={onClose}
		>
			<TextField label="Search" type="search" value={search} onValue={setSearch} />
			<SelectField label={linked.many} options={options} value={chosen ? id : ""} onValue={setId} />
		</Dialog>
	);
}
