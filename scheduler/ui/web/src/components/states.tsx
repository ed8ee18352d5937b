// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { type Loaded, useDelayed } from "../core/hooks.ts";
import { ErrorPanel } from "./error_panel.tsx";

export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
	return (
		<div class="skeleton" role="status" aria-label="Loading">
			{Array.from({ length: lines }, (_, i) => (
				<div key={i} />
			))}
		</div>
	);
}

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
	return (
		<section class="panel empty">
			<h2>{title}</h2>
			{children}
		</section>
	);
}

// Content shows the answer once it is there; before that a skeleton, and an error instead.
export function Content({ of, children }: { readonly of: Loaded; readonly children: () => ComponentChildren }) {
	const late = useDelayed(of.loading);
	if (of.error && of.asOf === 0) {
		return <ErrorPanel error={of.error} onRetry={of.reload} />;
	}
	if (of.error?.status === 404 || of.error?.status === 403) {
		return <ErrorPanel error={of.error} />; // withdrawn while it was shown
	}
	if (of.loading) {
		return late ? <Skeleton /> : null;
	}
	return <>{children()}</>;
}
