// SPDX-License-Identifier: MPL-2.0
import type { ApiError, Problem } from "../core/errors.ts";
import { Button } from "./button.tsx";

export function ProblemList({ problems, message }: { readonly problems: readonly Problem[]; readonly message: string }) {
	return (
		<div role="alert" class="note failure">
			{problems.length === 0 ? <p>{message}</p> : problems.map((problem) => <p key={problem.detail}>{problem.detail || problem.title}</p>)}
		</div>
	);
}

// Shows the error and a way on. A missing object and an object that the user may not read have the same text.
export function ErrorPanel({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => unknown }) {
	if (error.status === 404) {
		return <NotFound />;
	}
	return (
		<section class="panel" aria-label="Error">
			<ProblemList problems={error.problems} message={error.message} />
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
