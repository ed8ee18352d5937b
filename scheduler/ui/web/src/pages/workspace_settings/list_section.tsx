// SPDX-License-Identifier: MPL-2.0
// A list of objects that belong to the workspace (run tasks, teams, notifications), with Add, Edit and Remove.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { change } from "../../core/api.ts";
import type { Loaded } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";

type Removal = { readonly title: string; readonly word: string; readonly text: string; readonly url: string };

export type EditProps = {
	readonly item: Resource | undefined; // undefined: a new one
	readonly onDone: () => Promise<unknown>;
	readonly onClose: () => void;
};

type Props = {
	readonly of: Loaded;
	readonly intro: string;
	readonly empty: string;
	readonly caption: string;
	readonly heads: readonly string[]; // of the cells
	readonly add: string;
	readonly remove?: string; // the word in a row
	readonly reason?: string | undefined; // why nothing can be changed
	readonly noneLeft?: string | undefined; // why nothing can be added
	readonly name: (item: Resource) => string;
	readonly cells: (item: Resource) => readonly ComponentChildren[];
	readonly actions?: (item: Resource) => ComponentChildren; // before Edit and Remove
	readonly removal: (item: Resource) => Removal;
	readonly edit: (props: EditProps) => ComponentChildren;
};

type Asked = { readonly kind: "edit"; readonly item: Resource | undefined } | { readonly kind: "remove"; readonly item: Resource };

export function ListSection(props: Props) {
	const { of, reason } = props;
	const [asked, setAsked] = useState<Asked | undefined>();
	const close = () => setAsked(undefined);
	return (
		<>
			<div class="list-head">
				<p>{props.intro}</p>
				<Button kind="primary" reason={reason ?? props.noneLeft} onPress={() => setAsked({ kind: "edit", item: undefined })}>
					{props.add}
				</Button>
			</div>
			<Content of={of}>
				{() => (of.items.length === 0 ? <p class="muted">{props.empty}</p> : <Rows section={props} onAsked={setAsked} />)}
			</Content>
			{asked?.kind === "remove" && <RemoveDialog {...props.removal(asked.item)} onDone={of.reload} onClose={close} />}
			{asked?.kind === "edit" && props.edit({ item: asked.item, onDone: of.reload, onClose: close })}
		</>
	);
}

function Rows({ section, onAsked }: { readonly section: Props; readonly onAsked: (asked: Asked) => void }) {
	const { heads, name, remove = "Remove", reason } = section;
	return (
		<table class="stack">
			<caption class="sr-only">{section.caption}</caption>
			<thead>
				<tr>
					{heads.map((head) => (
						<th key={head} scope="col">
							{head}
						</th>
					))}
					<th scope="col">
						<span class="sr-only">Actions</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{section.of.items.map((item) => (
					<tr key={item.id}>
						{section.cells(item).map((cell, i) => (
							<td key={heads[i]}>{cell}</td>
						))}
						<td>
							<div class="cell-actions">
								{section.actions?.(item)}
								<Button reason={reason} label={`Edit ${name(item)}`} onPress={() => onAsked({ kind: "edit", item })}>
									Edit
								</Button>
								<Button reason={reason} label={`${remove} ${name(item)}`} onPress={() => onAsked({ kind: "remove", item })}>
									{remove}
								</Button>
							</div>
						</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

type RemoveProps = Removal & { readonly onDone: () => Promise<unknown>; readonly onClose: () => void };

function RemoveDialog({ title, word, text, url, onDone, onClose }: RemoveProps) {
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
