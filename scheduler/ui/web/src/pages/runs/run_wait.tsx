// SPDX-License-Identifier: MPL-2.0
import { type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";

// Why the run waits, for lists whose request includes `waiting`. The list's row leads to the run.
export function RunWait({ run }: { readonly run: Resource }) {
	const why = text(store.one(run, "waiting"), "text");
	return why ? <div class="run-wait muted">{why}</div> : null;
}
