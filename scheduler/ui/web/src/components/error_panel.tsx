// SPDX-License-Identifier: MPL-2.0
import type { ApiError, Problem } from "../core/errors.ts";
import { Button } from "./button.tsx";
import { SiteText } from "./site_text.tsx";

function ProblemList({ problems, message }: { readonly problems: readonly Problem[]; readonly message: string }) {
	return (
		<div role="alert" class="note failure">
			{problems.length === 0 ? <p>{message}</p> : problems.map((problem) => <p key={problem.detail}>{problem.detail || problem.title}</p>)}
		</div>
	);
}

// Shows a text of another service. Nothing for an empty text.
export function SaidNote({ tone, children }: { readonly tone: "wait" | "failure" | "neutral"; readonly children: string }) {
	return children ? (
		<p class={`note ${tone}`}>
			<bdi>{children}</bdi>
		</p>
	) : null;
}

// The problems of an error, but those that are shown at fields.
export function Problems({ of: error, fields = [] }: { readonly of: ApiError | undefined; readonly fields?: readonly string[] }) {
	const rest = error?.outside(fields) ?? [];
	return error && (rest.length > 0 || error.problems.length === 0) ? <ProblemList problems={rest} message={error.message} /> : null;
}

// Shows the error and a way on. A missing object and an object that the user may not read have the same text.
export function ErrorPanel({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => unknown }) {
	if (error.status === 404) {
		return <NotFound />;
	}
	return (
		<section class="panel" aria-label="Error">
			<Problems of={error} />
			<SiteText name="error" />
			{error.requestId && <p class="muted">Request {error.requestId}</p>}
			{onRetry && <Button onPress={onRetry}>Retry</Button>}
		</section>
	);
}

export function NotFound() {
	return (
		<section class="panel empty">
			<h1 tabIndex={-1}>Not found</h1>
			<p>This does not exist, or you may not see it.</p>
			<p>
				<a href="/app">Organizations</a>
			</p>
		</section>
	);
}
