// SPDX-License-Identifier: MPL-2.0
// What the inspection of a module's version has found. All of it is the text of the module's author.

import { flag, listIn, type Members, membersOf, type Resource, text, textIn } from "../../core/resource.ts";

export type Input = {
	readonly name: string;
	readonly type: string;
	readonly description: string;
	readonly default: string; // an expression, or why there is none
	readonly required: boolean;
	readonly sensitive: boolean;
};
export type Output = { readonly name: string; readonly description: string; readonly sensitive: boolean };
export type Requirement = { readonly name: string; readonly source: string; readonly version: string };
export type ResourceOf = { readonly address: string; readonly mode: string };

export type Folder = {
	readonly path: string;
	readonly readme: string;
	readonly engine: string; // the versions of the engine that it needs
	readonly inputs: readonly Input[];
	readonly outputs: readonly Output[];
	readonly calls: readonly Requirement[];
	readonly providers: readonly Requirement[];
	readonly resources: readonly ResourceOf[];
};

export type Description = {
	readonly root: Folder;
	readonly submodules: readonly Folder[];
	readonly examples: readonly Folder[];
	readonly cut: boolean;
};

function inputOf(item: Members): Input {
	const required = item.required === true;
	const sensitive = item.sensitive === true;
	return {
		name: textIn(item, "name"),
		type: textIn(item, "type") || "any",
		description: textIn(item, "description"),
		default: sensitive && !required ? "(sensitive)" : textIn(item, "default"),
		required,
		sensitive,
	};
}

function outputOf(item: Members): Output {
	return { name: textIn(item, "name"), description: textIn(item, "description"), sensitive: item.sensitive === true };
}

function requirementOf(item: Members): Requirement {
	return { name: textIn(item, "name"), source: textIn(item, "source"), version: textIn(item, "version") };
}

function resourceOf(item: Members): ResourceOf {
	const mode = textIn(item, "mode");
	const prefix = mode === "managed" || mode === "" ? "" : `${mode}.`;
	return { address: `${prefix}${textIn(item, "type")}.${textIn(item, "name")}`, mode };
}

function folderOf(item: Members): Folder {
	const inputs = listIn(item.inputs).map(inputOf);
	return {
		path: textIn(item, "path"),
		readme: textIn(item, "readme"),
		engine: textIn(item, "required_version"),
		inputs: [...inputs.filter(({ required }) => required), ...inputs.filter(({ required }) => !required)],
		outputs: listIn(item.outputs).map(outputOf),
		calls: listIn(item.dependencies).map(requirementOf),
		providers: listIn(item.provider_dependencies).map(requirementOf),
		resources: listIn(item.resources).map(resourceOf),
	};
}

export function descriptionOf(resource: Resource): Description {
	const { root, submodules, examples } = resource.attributes;
	return {
		root: folderOf(membersOf(root)),
		submodules: listIn(submodules).map(folderOf),
		examples: listIn(examples).map(folderOf),
		cut: flag(resource, "cut"),
	};
}

// The rows of the explorer that are this module or a part of it; `address` has the host. The newest version comes first.
export type Use = { readonly part: string; readonly version: string; readonly workspaces: string; readonly count: number };

export function usesOf(rows: readonly Resource[], address: string): readonly Use[] {
	return rows.flatMap((row) => {
		const source = text(row, "source");
		if (source !== address && !source.startsWith(`${address}//`)) {
			return []; // another module whose address begins alike
		}
		const count = row.attributes["workspace-count"];
		return [
			{
				part: source.slice(address.length + 2),
				version: text(row, "version"),
				workspaces: text(row, "workspaces"),
				count: typeof count === "number" ? count : 0,
			},
		];
	});
}
