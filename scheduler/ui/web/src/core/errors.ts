// SPDX-License-Identifier: MPL-2.0
// Errors of the API as the pages show them.

export type Problem = { readonly title: string; readonly detail: string; readonly pointer: string };

export class ApiError extends Error {
	readonly status: number; // 0: no answer
	readonly problems: readonly Problem[];
	readonly requestId: string;

	constructor(status: number, problems: readonly Problem[], requestId = "") {
		super(problems[0]?.detail || problems[0]?.title || `The server answered ${status}.`);
		this.status = status;
		this.problems = problems;
		this.requestId = requestId;
	}

	at(pointer: string): string {
		return this.problems
			.filter((problem) => problem.pointer === pointer)
			.map((problem) => problem.detail || problem.title)
			.join(" ");
	}

	// The problems that belong to none of the fields.
	outside(pointers: readonly string[]): readonly Problem[] {
		return this.problems.filter((problem) => !pointers.includes(problem.pointer));
	}
}

export function problemsOf(body: unknown): Problem[] {
	const errors = (body as { errors?: unknown })?.errors;
	if (!Array.isArray(errors)) {
		return [];
	}
	return errors.map((error) => ({
		title: String(error?.title ?? ""),
		detail: String(error?.detail ?? ""),
		pointer: String(error?.source?.pointer ?? ""),
	}));
}

export function offlineError(): ApiError {
	return new ApiError(0, [{ title: "No connection", detail: "The server can't be reached.", pointer: "" }]);
}

export function errorOf(error: unknown): ApiError {
	return error instanceof ApiError ? error : new ApiError(0, [{ title: "Error", detail: String(error), pointer: "" }]);
}

export function isMissing(error: ApiError | undefined): boolean {
	return error?.status === 404;
}
