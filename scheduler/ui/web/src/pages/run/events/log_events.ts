// SPDX-License-Identifier: MPL-2.0
// The lines of JSON that `terraform plan -json` and `terraform apply -json` write, and what they add up to.

export type Place = {
	readonly address: string;
	readonly file: string;
	readonly line: number; // 0: unknown
	readonly code: string; // the snippet
	readonly codeLine: number; // the number of its first line
	readonly from: number; // the marked part of the snippet
	readonly to: number;
	readonly values: readonly string[]; // what the expressions were
};
export type Diagnostic = {
	readonly severity: "error" | "warning";
	readonly summary: string;
	readonly detail: string;
	readonly place: Place;
};

export type RowState = "pending" | "running" | "provisioning" | "done" | "failed" | "tainted";
export type ApplyRow = {
	readonly address: string;
	readonly action: string;
	state: RowState;
	started: number; // milliseconds; 0: it has not begun
	ended: number;
	id: string;
	steps: number; // that remain: a replacement has two
	note: string; // the provisioner
};
export type Output = { readonly name: string; readonly sensitive: boolean; readonly value: unknown };

export type Progress = {
	readonly rows: Map<string, ApplyRow>;
	readonly diagnostics: Diagnostic[];
	outputs: readonly Output[];
	planned: number; // changes that the plan has found
	refreshing: number;
	refreshed: number;
	structured: boolean; // the log has lines of JSON
};

export function progressNew(): Progress {
	return { rows: new Map(), diagnostics: [], outputs: [], planned: 0, refreshing: 0, refreshed: 0, structured: false };
}

type Json = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown): Json => (value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {});
const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);

// What an apply works on. Moves, imports and removals from the state alone are done by the plan.
const worked = new Set(["create", "update", "delete", "replace", "read", "open", "renew", "close"]);

const maxRows = 50_000;
const maxDiagnostics = 1000;

function rowAt(progress: Progress, source: unknown): ApplyRow | undefined {
	const object = objectOf(source);
	const address = textOf(objectOf(object.resource).addr);
	const known = progress.rows.get(address);
	if (known || !address || progress.rows.size >= maxRows) {
		return known;
	}
	const action = textOf(object.action);
	const row: ApplyRow = {
		address,
		action,
		state: "pending",
		started: 0,
		ended: 0,
		id: "",
		steps: action === "replace" ? 2 : 1,
		note: "",
	};
	progress.rows.set(address, row);
	return row;
}

function diagnosticOf(source: unknown): Diagnostic {
	const object = objectOf(source);
	const range = objectOf(object.range);
	const snippet = objectOf(object.snippet);
	const values = Array.isArray(snippet.values) ? snippet.values.map(objectOf) : [];
	return {
		severity: object.severity === "warning" ? "warning" : "error",
		summary: textOf(object.summary),
		detail: textOf(object.detail),
		place: {
			address: textOf(object.address),
			file: textOf(range.filename),
			line: numberOf(objectOf(range.start).line),
			code: textOf(snippet.code),
			codeLine: numberOf(snippet.start_line),
			from: numberOf(snippet.highlight_start_offset),
			to: numberOf(snippet.highlight_end_offset),
			values: values.map((value) => `${textOf(value.traversal)} ${textOf(value.statement)}`),
		},
	};
}

type Reader = (progress: Progress, event: Json, at: number) => void;

const change =
	(set: (row: ApplyRow, at: number, hook: Json) => void): Reader =>
	(progress, event, at) => {
		const hook = objectOf(event.hook);
		const row = rowAt(progress, hook);
		if (row) {
			set(row, at, hook);
		}
	};

const readers: Readonly<Record<string, Reader>> = {
	planned_change: (progress, event) => {
		const source = objectOf(event.change);
		progress.planned += 1;
		if (worked.has(textOf(source.action))) {
			rowAt(progress, source);
		}
	},
	refresh_start: (progress) => {
		progress.refreshing += 1;
	},
	refresh_complete: (progress) => {
		progress.refreshed += 1;
	},
	diagnostic: (progress, event) => {
		if (progress.diagnostics.length < maxDiagnostics) {
			progress.diagnostics.push(diagnosticOf(event.diagnostic));
		}
	},
	outputs: (progress, event) => {
		progress.outputs = Object.entries(objectOf(event.outputs)).map(([name, source]) => {
			const output = objectOf(source);
			return { name, sensitive: output.sensitive === true, value: output.value };
		});
	},
	apply_start: change((row, at) => {
		row.state = "running";
		row.started ||= at;
	}),
	provision_start: change((row, _, hook) => {
		row.state = "provisioning";
		row.note = textOf(hook.provisioner);
	}),
	provision_complete: change((row) => {
		row.state = "running";
	}),
	provision_errored: change((row) => {
		row.state = "tainted";
	}),
	apply_complete: change((row, at, hook) => {
		row.steps -= 1;
		row.state = row.steps > 0 ? "running" : "done";
		row.ended = at;
		row.id = hook.action === "delete" ? row.id : textOf(hook.id_value);
	}),
	// A resource whose provisioner failed exists, and terraform replaces it next time.
	apply_errored: change((row, at) => {
		row.state = row.state === "tainted" ? "tainted" : "failed";
		row.ended = at;
	}),
};

// eventRead adds one line of a log. Lines that are not JSON, and events that it does not know, change nothing.
export function eventRead(progress: Progress, line: string): void {
	if (!line.startsWith("{")) {
		return;
	}
	let event: Json;
	try {
		event = objectOf(JSON.parse(line));
	} catch {
		return;
	}
	const type = textOf(event.type);
	if (type) {
		progress.structured = true;
	}
	if (Object.hasOwn(readers, type)) {
		readers[type]?.(progress, event, Date.parse(textOf(event["@timestamp"])) || 0);
	}
}

const newline = 0x0a;
// biome-ignore lint/suspicious/noControlCharactersInRegex: logs have them
const marks = /[\u0002\u0003]/g; // the worker frames a log with them

// EventBytes reads the ranges of a log, in their order.
export class EventBytes {
	readonly progress = progressNew();
	#rest: Uint8Array[] = [];

	add(range: Uint8Array): void {
		let start = 0;
		for (let end = range.indexOf(newline); end >= 0; end = range.indexOf(newline, start)) {
			this.#line(range.subarray(start, end));
			start = end + 1;
		}
		this.#rest.push(range.subarray(start));
	}

	#line(end: Uint8Array): void {
		const decoder = new TextDecoder();
		const line = this.#rest.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode(end);
		this.#rest = [];
		eventRead(this.progress, line.replace(marks, ""));
	}
}

const order: Readonly<Record<RowState, number>> = { failed: 0, tainted: 1, provisioning: 2, running: 3, pending: 4, done: 5 };

// rowsSorted: what failed and what runs first.
export function rowsSorted(progress: Progress): readonly ApplyRow[] {
	return [...progress.rows.values()].sort((a, b) => order[a.state] - order[b.state] || (a.state === "done" ? b.ended - a.ended : 0));
}

export type Tally = { readonly total: number; readonly done: number; readonly running: number; readonly failed: number };

export function tally(progress: Progress): Tally {
	const states = [...progress.rows.values()].map((row) => row.state);
	const count = (...wanted: RowState[]) => states.filter((state) => wanted.includes(state)).length;
	return { total: states.length, done: count("done"), running: count("running", "provisioning"), failed: count("failed", "tainted") };
}

// slowest: the resources that took longest, if they differ enough to say so.
export function slowest(progress: Progress, most: number): readonly ApplyRow[] {
	const took = (row: ApplyRow) => row.ended - row.started;
	return [...progress.rows.values()]
		.filter((row) => row.started > 0 && row.ended > 0 && took(row) >= 1000)
		.sort((a, b) => took(b) - took(a))
		.slice(0, most);
}

export type Problem = {
	readonly severity: "error" | "warning";
	readonly summary: string;
	readonly detail: string;
	readonly places: readonly Place[];
};

// problemsOfLog: errors first. Those with the same text are one problem at several places.
export function problemsOfLog(diagnostics: readonly Diagnostic[]): readonly Problem[] {
	const found = new Map<string, { severity: "error" | "warning"; summary: string; detail: string; places: Place[] }>();
	for (const { severity, summary, detail, place } of diagnostics) {
		const key = JSON.stringify([severity, summary, detail]);
		const known = found.get(key);
		if (known) {
			known.places.push(place);
		} else {
			found.set(key, { severity, summary, detail, places: [place] });
		}
	}
	return [...found.values()].sort((a, b) => (a.severity === b.severity ? 0 : a.severity === "error" ? -1 : 1));
}
