// SPDX-License-Identifier: MPL-2.0
// Pages of a workspace have its name in their address. After a rename they follow it to its new name.

import { useEffect, useRef } from "preact/hooks";
import { announce } from "../../components/live_region.tsx";
import { address, read, segment } from "../../core/api.ts";
import type { Loaded } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { navigate } from "../../core/router.ts";
import { framePath, renamedPath } from "./frame_links.ts";

// The ids of the workspaces that pages have shown, by their addresses. An address of before stays in the history.
const seen = new Map<string, string>();

// The ids of the workspaces that this page deletes: they are not looked for under another name.
export const deleting = new Set<string>();

function follow(org: string, before: string, now: string): void {
	const path = renamedPath(location.pathname, org, before, now);
	if (path) {
		navigate(path + location.search + location.hash, true);
		announce(`The workspace is now named ${now}`);
	}
}

// useRenamed: `of` reads the workspace by its name. If that is not there any more, its id tells the new one.
export function useRenamed(org: string, ws: string, of: Loaded): void {
	const key = framePath("overview", org, ws);
	if (of.item && !of.error) {
		seen.set(key, of.item.id);
	}
	const id = seen.get(key);
	const gone = of.error?.status === 404;
	useEffect(() => {
		if (!gone || !id || deleting.has(id)) {
			return;
		}
		const abort = new AbortController();
		read(address(`/workspaces/${segment(id)}`), abort.signal)
			.then(({ data }) => follow(org, ws, text(data as Resource, "name")))
			.catch(() => {}); // deleted, or no right any more: the page says that it is not found
		return () => abort.abort();
	}, [gone, id, key]);
}

// useNameOf: the page has read the workspace by another object, such as a run, which is found whatever the name is.
export function useNameOf(org: string, ws: string, workspace: Resource | undefined): void {
	const name = text(workspace, "name");
	const told = useRef("");
	useEffect(() => {
		if (name && name !== ws && told.current !== name) {
			told.current = name;
			follow(org, ws, name);
		}
	}, [org, ws, name]);
}
