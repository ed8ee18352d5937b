// SPDX-License-Identifier: MPL-2.0
// The variables of a workspace and of its variable sets, and which of them a run gets. The server decides that.

import { flag, linksOf, type Resource, text } from "../../core/resource.ts";

export type VariableRow = {
	readonly variable: Resource;
	readonly set: Resource | undefined; // undefined: the workspace's own
	readonly wins: boolean;
	readonly beatenBy: string; // the source of the variable that a run gets instead; "": this one
};

export type Category = "terraform" | "env";

const nameOf = (variable: Resource) => `${text(variable, "category")} ${text(variable, "key")}`;

// variableRows: `effective` has the variables that a run gets. A name's winner stands first.
export function variableRows(
	own: readonly Resource[],
	sets: readonly Resource[],
	effective: readonly Resource[],
	find: (link: { type: string; id: string }) => Resource | undefined,
): readonly VariableRow[] {
	const all = [
		...own.map((variable) => ({ variable, set: undefined as Resource | undefined })),
		...sets.flatMap((set) =>
			linksOf(set, "vars").flatMap((link) => {
				const variable = find(link);
				return variable ? [{ variable, set }] : [];
			}),
		),
	];
	const winners = new Map(effective.map((variable) => [nameOf(variable), variable.id]));
	const sourceOf = new Map(all.map(({ variable, set }) => [variable.id, set ? `variable set ${text(set, "name")}` : "the workspace"]));
	return all
		.map(({ variable, set }) => {
			const winner = winners.get(nameOf(variable));
			const wins = winner === variable.id;
			return { variable, set, wins, beatenBy: wins ? "" : (sourceOf.get(winner ?? "") ?? "another variable") };
		})
		.sort(
			(a, b) =>
				text(a.variable, "key").localeCompare(text(b.variable, "key")) ||
				Number(b.wins) - Number(a.wins) ||
				a.variable.id.localeCompare(b.variable.id),
		);
}

export function ofCategory(rows: readonly VariableRow[], category: Category): readonly VariableRow[] {
	return rows.filter((row) => text(row.variable, "category") === category);
}

// priorityWord: why a set's variable wins or loses.
export function priorityWord(set: Resource | undefined): string {
	return set && flag(set, "priority") ? "priority" : "";
}
