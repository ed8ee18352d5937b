// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../components/fold.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { counted } from "../../core/format.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import type { Description, Folder, Input, Output, Requirement, ResourceOf } from "./description.ts";

const inputColumns: readonly Column<Input>[] = [
	{ key: "name", head: "Name", cell: ({ name }) => <strong>{name}</strong> },
	{ key: "type", head: "Type", cell: ({ type }) => <code class="as-written">{type}</code> },
	{
		key: "default",
		head: "Default",
		cell: (input) => (input.required ? "required" : <code class="as-written">{input.default}</code>),
	},
	{ key: "description", head: "Description", cell: ({ description }) => <span class="as-written">{description}</span> },
];

const outputColumns: readonly Column<Output>[] = [
	{ key: "name", head: "Name", cell: ({ name }) => <strong>{name}</strong> },
	{
		key: "description",
		head: "Description",
		cell: ({ description, sensitive }) => <span class="as-written">{sensitive ? `(sensitive) ${description}` : description}</span>,
	},
];

const requirementColumns: readonly Column<Requirement>[] = [
	{ key: "name", head: "Name", cell: ({ name }) => <strong>{name}</strong> },
	{ key: "source", head: "Source", cell: ({ source }) => <bdi>{source}</bdi> },
	{ key: "version", head: "Version", cell: ({ version }) => <bdi>{version || "any"}</bdi> },
];

const resourceColumns: readonly Column<ResourceOf>[] = [{ key: "address", head: "Resource", cell: ({ address }) => <bdi>{address}</bdi> }];

type ListProps<T> = {
	readonly word: string; // "input"
	readonly columns: readonly Column<T>[];
	readonly rows: readonly T[];
	readonly of: string; // the path of the folder; "": the module itself
};

function List<T>({ word, columns, rows, of }: ListProps<T>) {
	if (rows.length === 0) {
		return null;
	}
	const name = of ? ` of ${of}` : "";
	return (
		<Fold summary={counted(rows.length, word)} open={rows.length <= 50}>
			{() => <PlainTable caption={`${word}s${name}`} columns={columns} rows={rows} keyOf={(_, at) => `${at}`} class="wrap" />}
		</Fold>
	);
}

function Parts({ folder }: { readonly folder: Folder }) {
	const of = folder.path;
	return (
		<>
			{folder.engine && <p>{`It needs an engine of version ${folder.engine}.`}</p>}
			<List word="input" columns={inputColumns} rows={folder.inputs} of={of} />
			<List word="output" columns={outputColumns} rows={folder.outputs} of={of} />
			<List word="called module" columns={requirementColumns} rows={folder.calls} of={of} />
			<List word="provider" columns={requirementColumns} rows={folder.providers} of={of} />
			<List word="resource" columns={resourceColumns} rows={folder.resources} of={of} />
		</>
	);
}

function Folders({ title, id, folders }: { readonly title: string; readonly id: string; readonly folders: readonly Folder[] }) {
	return folders.length === 0 ? null : (
		<section aria-labelledby={id}>
			<h2 id={id}>{title}</h2>
			{folders.map((folder) => (
				<Fold key={folder.path} summary={<bdi>{folder.path}</bdi>} open={false}>
					{() => (
						<>
							{folder.readme && <Markdown text={folder.readme} below={3} />}
							<Parts folder={folder} />
						</>
					)}
				</Fold>
			))}
		</section>
	);
}

export function DescriptionParts({ description }: { readonly description: Description }) {
	const { root, submodules, examples, cut } = description;
	return (
		<>
			{root.readme && (
				<section aria-labelledby="readme">
					<h2 id="readme">Readme</h2>
					<Markdown text={root.readme} below={2} />
				</section>
			)}
			<section aria-labelledby="contents">
				<h2 id="contents">Contents</h2>
				{cut && <p>The module has more than is shown.</p>}
				<Parts folder={root} />
			</section>
			<Folders title="Submodules" id="submodules" folders={submodules} />
			<Folders title="Examples" id="examples" folders={examples} />
		</>
	);
}
