// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { type Loaded, useDocument, useInterval } from "../../core/hooks.ts";
import { type Description, descriptionOf } from "./description.ts";

const pollMs = 5000;

// What the inspection found of the module's version. There is nothing for a while after a version is published.
export function useDescription(module: string, version: string): { readonly found: Loaded; readonly description: Description | undefined } {
	const found = useDocument(
		module && version ? address(`/registry-modules/${segment(module)}/description`, { module_version: version }) : undefined,
	);
	const isKnown = Boolean(found.item?.attributes.root);
	useInterval(pollMs, () => found.item && !isKnown && found.reload());
	return { found, description: found.item && isKnown ? descriptionOf(found.item) : undefined };
}
