// SPDX-License-Identifier: MPL-2.0
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useRender } from "../core/hooks.ts";
import { noticesOn, onNotices } from "../core/notices.ts";

type Part = ComponentType<{ readonly org: string }>;

// Notifications of the desktop, on all pages of an organization. Their part loads only for users who want them.
export function Notices({ org }: { readonly org: string }) {
	const render = useRender();
	const [part, setPart] = useState<{ readonly Part: Part } | undefined>();
	const on = org !== "" && noticesOn();
	useEffect(() => onNotices(render), []);
	useEffect(() => {
		if (on && !part) {
			import("../pages/runs/needs_notices.tsx").then((module) => setPart({ Part: module.default })).catch(() => {});
		}
	}, [on, part]);
	return on && part ? <part.Part key={org} org={org} /> : null;
}
