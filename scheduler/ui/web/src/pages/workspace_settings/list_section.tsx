// SPDX-License-Identifier: MPL-2.0
// What the sections of attached objects (run tasks, teams, notifications) share.

import type { ComponentChildren } from "preact";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { change } from "../../core/api.ts";
import type { Loaded } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";

type Props = {
	readonly of: Loaded;
	readonly intro: string;
	readonly empty: string;
	readonly caption: string;
	readonly heads: readonly string[];
	readonly add: string;
	readonly reason: string | undefined; // why nothing can be added
	readonly onAdd: () => void;
	readonly row: (item: Resource) => readonly ComponentChildren[]; // the cells
};

export function ListSection({ of, intro, empty, caption, heads, add, reason, onAdd, row }: Props) {
	return (
		<>
			<div class="list-head">
				<p>{intro}</p>
				<Button kind="primary" reason={reason} onPress={onAdd}>
					{add}
				</Button>
			</div>
			<Content of={of}>
				{() =>
					of.items.length === 0 ? (
						<p class="muted">{empty}</p>
					) : (
						<table class="stack">
							<caption class="sr-only">{caption}</caption>
							<thead>
								<tr>
									{heads.map((head) => (
										<th key={head} scope="col">
											{head === "Actions" ? <span class="sr-only">{head}</span> : head}
										</th>
									))}
								</tr>
							</thead>
							<tbody>
								{of.items.map((item) => (
									<tr key={item.id}>
										{row(item).map((cell, i) => (
											<td key={heads[i]}>{cell}</td>
										))}
									</tr>
								))}
							</tbody>
						</table>
					)
				}
			</Content>
		</>
	);
}

type ActionsProps = {
	readonly name: string;
	readonly remove?: string; // the word for its removal
	readonly reason: string | undefined;
	readonly onEdit: () => void;
	readonly onRemove: () => void;
};

export function RowActions({ name, remove = "Remove", reason, onEdit, onRemove }: ActionsProps) {
	return (
		<div class="cell-actions">
			<Button reason={reason} label={`Edit ${name}`} onPress={onEdit}>
				Edit
			</Button>
			<Button reason={reason} label={`${remove} ${name}`} onPress={onRemove}>
				{remove}
			</Button>
		</div>
	);
}

type RemoveProps = {
	readonly title: string;
	readonly word: string;
	readonly text: string;
	readonly url: string;
	readonly onDone: () => Promise<unknown>;
	readonly onClose: () => void;
};

export function RemoveDialog({ title, word, text, url, onDone, onClose }: RemoveProps) {
	const remove = async () => {
		await change("DELETE", url);
		announce(`${title}: done`);
		await onDone();
	};
	return (
		<Dialog title={title} confirm={word} danger onConfirm={remove} onClose={onClose}>
			<p>{text}</p>
		</Dialog>
	);
}

// The dialog of a section that is open, and its object.
export type Asked = { readonly kind: "add" } | { readonly kind: "edit" | "remove"; readonly item: Resource };
