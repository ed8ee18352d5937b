// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { DialogButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Pagination } from "../../components/pagination.tsx";
import { Content } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { addressOf, type Query, querySaved, savedOf } from "./query.ts";
import { typeWords } from "./words.ts";

const viewsAddress = (org: string, id = "") => address(`/organizations/${segment(org)}/explorer/views${id && `/${segment(id)}`}`);
const body = (attributes: Record<string, unknown>) => ({ data: { type: "explorer-saved-queries", attributes } });

type SaveProps = { readonly org: string; readonly query: Query; readonly onClose: () => void };

// Saves the query that is shown as a new view.
export function SaveDialog({ org, query, onClose }: SaveProps) {
	const [name, setName] = useState("");
	const save = async () => {
		const saved = await change("POST", viewsAddress(org), body({ name, "query-type": query.type, query: savedOf(query) }));
		const id = Array.isArray(saved.data) ? "" : ((saved.data as Resource | null)?.id ?? "");
		navigate(`${pathTo("/app/:org/explorer", { org })}?${addressOf(query, id)}`, true);
	};
	return (
		<Dialog
			title="Save view"
			confirm="Save"
			fields={["/data/attributes/name"]}
			reason={name.trim() ? undefined : "a view has a name"}
			onConfirm={save}
			onClose={onClose}
		>
			{(error) => (
				<TextField
					label="Name"
					hint="All members of the organization see it. A result has what its reader may see."
					value={name}
					maxLength={100}
					error={error}
					pointer="/data/attributes/name"
					onValue={setName}
				/>
			)}
		</Dialog>
	);
}

function RenameDialog({ org, view, onDone, onClose }: { org: string; view: Resource; onDone: () => unknown; onClose: () => void }) {
	const [name, setName] = useState(text(view, "name"));
	const rename = async () => {
		await change("PATCH", viewsAddress(org, view.id), body({ name }));
		await onDone();
	};
	return (
		<Dialog title="Rename view" confirm="Rename" fields={["/data/attributes/name"]} onConfirm={rename} onClose={onClose}>
			{(error) => <TextField label="Name" value={name} maxLength={100} error={error} pointer="/data/attributes/name" onValue={setName} />}
		</Dialog>
	);
}

function DeleteDialog({ org, view, onDone, onClose }: { org: string; view: Resource; onDone: () => unknown; onClose: () => void }) {
	const remove = async () => {
		await change("DELETE", viewsAddress(org, view.id));
		await onDone();
	};
	return (
		<Dialog title="Delete view" confirm="Delete" danger onConfirm={remove} onClose={onClose}>
			<p>
				<bdi>{text(view, "name")}</bdi> is deleted for all members of the organization.
			</p>
		</Dialog>
	);
}

export function SavedViews({ org }: { readonly org: string }) {
	const list = useDocument(
		address(`/organizations/${segment(org)}/explorer/views`, { "page[number]": useQuery().get("page") ?? 1, "page[size]": 50 }),
	);
	const link = (view: Resource) => {
		const query = querySaved(text(view, "query-type"), view.attributes.query);
		return `${pathTo("/app/:org/explorer", { org })}?${addressOf(query, view.id)}`;
	};
	const columns: readonly Column[] = [
		{ key: "name", head: "Name", cell: (view) => <a href={link(view)}>{text(view, "name")}</a> },
		{ key: "type", head: "Type", class: "tight", cell: (view) => typeWords[text(view, "query-type")]?.[0] ?? text(view, "query-type") },
		{ key: "owner", head: "Owner", class: "wide", cell: (view) => <bdi>{text(view, "owner") || "–"}</bdi> },
		{ key: "time", head: "Updated", class: "wide tight", cell: (view) => <TimeAgo time={view.attributes["updated-at"]} /> },
		{
			key: "actions",
			head: <span class="sr-only">Actions</span>,
			class: "tight",
			cell: (view) => (
				<div class="actions">
					<DialogButton
						label={`Rename ${text(view, "name")}`}
						dialog={(close) => <RenameDialog org={org} view={view} onDone={list.reload} onClose={close} />}
					>
						Rename
					</DialogButton>
					<DialogButton
						label={`Delete ${text(view, "name")}`}
						dialog={(close) => <DeleteDialog org={org} view={view} onDone={list.reload} onClose={close} />}
					>
						Delete
					</DialogButton>
				</div>
			),
		},
	];
	return (
		<section aria-labelledby="explorer-views">
			<h2 id="explorer-views">Saved views</h2>
			<Content of={list}>
				{() =>
					list.items.length > 0 ? (
						<>
							<Table caption="Saved views" columns={columns} rows={list.items} stacked />
							<Pagination pages={list.pages} />
						</>
					) : (
						<p class="muted">None. A query's page has a button that saves it.</p>
					)
				}
			</Content>
		</section>
	);
}
