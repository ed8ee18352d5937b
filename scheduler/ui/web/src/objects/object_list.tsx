// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { CopyId } from "../components/copy.tsx";
import { Pagination } from "../components/pagination.tsx";
import { Content } from "../components/states.tsx";
import { type Column, Table } from "../components/table.tsx";
import { type Loaded, useDocument } from "../core/hooks.ts";
import { type Resource, text } from "../core/resource.ts";
import { navigate } from "../core/router.ts";
import { fieldsFor } from "./fields.ts";
import { type ObjectKind, titleCase } from "./kinds.ts";
import { ObjectDialog, RemoveDialog } from "./object_dialog.tsx";

type Props = {
	readonly kind: ObjectKind;
	readonly url?: string; // of the list
	readonly list?: Loaded; // the same, if the page reads it itself
	readonly createPath: string;
	readonly intro?: string;
	readonly reason?: string | undefined; // why it can't be changed
	readonly noneLeft?: string | undefined; // why nothing can be added
	readonly wanted?: (item: Resource) => boolean; // leaves out objects that the list's address can't
	readonly heading?: boolean; // a heading with the kind's name; the page's own heading has it otherwise
};

type Asked = { readonly what: "new" | "edit" | "remove"; readonly item?: Resource };

function secretName(kind: ObjectKind, item: Resource | undefined): string {
	return kind.secret ? text(item, kind.secret) : "";
}

// The objects of a kind, with New, Edit and Delete. A secret of a new object is shown until the user goes on.
export function ObjectList({ kind, url, list: given, createPath, intro, reason, noneLeft, wanted, heading = false }: Props) {
	const own = useDocument(url);
	const list = given ?? own;
	const [asked, setAsked] = useState<Asked | undefined>();
	const [secret, setSecret] = useState("");
	const close = () => setAsked(undefined);
	const rows = wanted ? list.items.filter(wanted) : list.items;
	const saved = async (item: Resource | undefined) => {
		setSecret(secretName(kind, item));
		if (kind.opens && item && asked?.what === "new") {
			navigate(`${location.pathname}?id=${encodeURIComponent(item.id)}`);
		}
		await list.reload();
	};
	return (
		<section aria-label={kind.many}>
			<div class="list-head">
				{heading ? <h3>{kind.many}</h3> : intro ? <p>{intro}</p> : <span />}
				{fieldsFor(kind.fields, undefined).length > 0 && (
					<Button kind={heading ? "plain" : "primary"} reason={reason ?? noneLeft} onPress={() => setAsked({ what: "new" })}>
						{kind.add ?? `New ${kind.one}`}
					</Button>
				)}
			</div>
			{secret && <SecretNote kind={kind} secret={secret} onDone={() => setSecret("")} />}
			<Content of={list}>
				{() =>
					rows.length === 0 ? (
						<p class="muted">{kind.empty}</p>
					) : (
						<>
							<Table caption={kind.many} columns={columnsOf(kind, reason, setAsked, list.reload)} rows={rows} stacked />
							{!heading && <Pagination pages={list.pages} />}
						</>
					)
				}
			</Content>
			{(asked?.what === "new" || asked?.what === "edit") && (
				<ObjectDialog kind={kind} item={asked.item} createPath={createPath} onDone={saved} onClose={close} />
			)}
			{asked?.what === "remove" && asked.item && <RemoveDialog kind={kind} item={asked.item} onDone={list.reload} onClose={close} />}
		</section>
	);
}

export function SecretNote({ kind, secret, onDone }: { readonly kind: ObjectKind; readonly secret: string; readonly onDone: () => void }) {
	return (
		<div class="note wait" role="status">
			<p>{titleCase(kind.one)}: copy it now. It is not shown again.</p>
			<p>
				<CopyId id={secret} />
			</p>
			<Button onPress={onDone}>I have copied it</Button>
		</div>
	);
}

function columnsOf(
	kind: ObjectKind,
	reason: string | undefined,
	ask: (asked: Asked) => void,
	reload: () => Promise<void>,
): readonly Column[] {
	const name: Column = {
		key: "name",
		head: kind.head ?? "Name",
		cell: (item) =>
			kind.opens || kind.path ? (
				<a class="row-link" href={kind.path?.(item) ?? `?id=${encodeURIComponent(item.id)}`}>
					{kind.name(item)}
				</a>
			) : (
				<strong>{kind.name(item)}</strong>
			),
	};
	const actions: Column = {
		key: "actions",
		head: <span class="sr-only">Actions</span>,
		cell: (item) => (
			<div class="cell-actions">
				{kind.actions?.(item, reload)}
				{!reason && kind.fields.some((field) => field.only !== "create") && (
					<Button label={`Edit ${kind.name(item)}`} onPress={() => ask({ what: "edit", item })}>
						Edit
					</Button>
				)}
				{!reason && (
					<Button
						label={`${kind.remove ?? "Delete"} ${kind.name(item)}`}
						reason={kind.keeps?.(item)}
						onPress={() => ask({ what: "remove", item })}
					>
						{kind.remove ?? "Delete"}
					</Button>
				)}
			</div>
		),
	};
	return kind.opens ? [name, ...kind.columns] : [name, ...kind.columns, actions];
}
