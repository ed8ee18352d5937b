// SPDX-License-Identifier: MPL-2.0
// A state file of terraform (version 4) as resources and outputs whose sensitive values are blanked. The file is
// hostile: every member is checked.

import type { Json, Path } from "../../changes/summary.ts";
import { isObject } from "../../changes/tree.ts";

export type StatePart = {
	readonly address: string;
	readonly kind: "resource" | "output";
	readonly type: string;
	readonly value: Json; // with null at sensitive places
	readonly mask: Json | undefined; // true at sensitive places
	readonly secrets: ReadonlyMap<string, string>; // path to the text of its value, to tell whether it changed
};

type Members = Readonly<Record<string, Json>>;

const objects = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.filter(isObject) : []);
const string = (value: unknown) => (typeof value === "string" ? value : "");

// pathOf: a path of sensitive_attributes, whose steps are get_attr and index.
function pathOf(steps: unknown): Path | undefined {
	const path: (string | number)[] = [];
	for (const step of objects(steps)) {
		const value = isObject(step.value) ? step.value.value : step.value;
		if (typeof value !== "string" && typeof value !== "number") {
			return undefined;
		}
		path.push(value);
	}
	return path;
}

type Mutable = { [name: string]: Json } & Json[];

type Blanked = { value: Json; mask: Json | undefined };

// blank replaces the value at the path by null, and marks the place in the mask. A path that leads nowhere blanks the
// part where it ends.
function blank({ value, mask }: Blanked, path: Path, keep: (text: string) => void): Blanked {
	if (mask === true || value === null) {
		return { value, mask };
	}
	const [step, ...rest] = path;
	const inner = step === undefined || typeof value !== "object" ? undefined : (value as Members)[step];
	if (step === undefined || inner === undefined) {
		keep(JSON.stringify(value));
		return { value: null, mask: true };
	}
	const below = blank({ value: inner, mask: isObject(mask) ? mask[step] : undefined }, rest, keep);
	const copy = (Array.isArray(value) ? [...value] : { ...(value as Members) }) as Mutable;
	copy[step as number] = below.value;
	return { value: copy, mask: below.mask === undefined ? mask : { ...(isObject(mask) ? mask : {}), [step]: below.mask } };
}

function indexWord(key: unknown): string {
	return typeof key === "number" ? `[${key}]` : typeof key === "string" ? `[${JSON.stringify(key)}]` : "";
}

function resourceParts(resource: Members): readonly StatePart[] {
	const module = string(resource.module);
	const data = resource.mode === "data" ? "data." : "";
	const name = `${module ? `${module}.` : ""}${data}${string(resource.type)}.${string(resource.name)}`;
	return objects(resource.instances).map((instance) => {
		const secrets = new Map<string, string>();
		let state: Blanked = { value: instance.attributes ?? null, mask: undefined };
		for (const steps of Array.isArray(instance.sensitive_attributes) ? instance.sensitive_attributes : []) {
			const path = pathOf(steps);
			state = blank(state, path ?? [], (text) => secrets.set(JSON.stringify(path), text));
		}
		const deposed = string(instance.deposed);
		const address = name + indexWord(instance.index_key) + (deposed ? ` (deposed ${deposed})` : "");
		return { address, kind: "resource", type: string(resource.type), value: state.value, mask: state.mask, secrets };
	});
}

export function statePartsOf(file: unknown): readonly StatePart[] {
	if (!isObject(file)) {
		return [];
	}
	const outputs = isObject(file.outputs) ? file.outputs : {};
	const outputParts = Object.entries(outputs).map(([name, output]): StatePart => {
		const value = isObject(output) ? (output.value ?? null) : null;
		const isSensitive = isObject(output) && output.sensitive === true;
		return {
			address: name,
			kind: "output",
			type: "",
			value: isSensitive ? null : value,
			mask: isSensitive ? true : undefined,
			secrets: new Map(isSensitive ? [["[]", JSON.stringify(value)]] : []),
		};
	});
	return [...objects(file.resources).flatMap(resourceParts), ...outputParts];
}
