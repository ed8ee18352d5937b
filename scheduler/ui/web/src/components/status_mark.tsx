// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { can, type Resource, text } from "../core/resource.ts";
import { statusIcon, statusTone, statusWord, type Tone, toneIcons } from "../core/status.ts";

// An icon and a word: colour is never the only carrier.
export function Mark({
	tone,
	icon,
	children,
}: {
	readonly tone: Tone;
	readonly icon?: string | undefined;
	readonly children: ComponentChildren;
}) {
	return (
		<span class={`mark ${tone}`}>
			<span class="mark-icon" aria-hidden="true">
				{icon ?? toneIcons[tone]}
			</span>{" "}
			{children}
		</span>
	);
}

export function runTone(run: Resource): Tone {
	return statusTone(text(run, "status"), can(run, "is-confirmable"));
}

export function runWord(run: Resource): string {
	return statusWord(text(run, "status"), text(run, "status-label"));
}

// isLive: screen readers say each change once. A page has at most one such mark for a run.
export function StatusMark({ run, isLive = false }: { readonly run: Resource; readonly isLive?: boolean }) {
	const tone = runTone(run);
	const mark = (
		<Mark tone={tone} icon={statusIcon(text(run, "status"), tone)}>
			{runWord(run)}
		</Mark>
	);
	return isLive ? <span role="status">{mark}</span> : mark;
}

export function Chip({ tone, children }: { readonly tone?: Tone | "replace"; readonly children: ComponentChildren }) {
	return <span class={`chip ${tone ?? ""}`}>{children}</span>;
}
