// SPDX-License-Identifier: MPL-2.0
// The lines of JSON that `terraform plan -json`, `apply -json` and `query -json` write, and what they add up to.

import { listIn, type Members, membersOf, textIn } from "../../../core/resource.ts";

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
	deletes: boolean; // the step in progress destroys it
};
export type PlannedChange = {
	readonly address: string;
	readonly action: string;
	readonly previous: string; // the address before a move
	readonly reason: string;
};
// A resource that a query has found.
export type Found = {
	readonly address: string; // of the list block
	readonly type: string; // of the resource
	readonly identity: string;
	readonly name: string; // the provider's own for the resource
	readonly config: string; // that terraform generated, with an import block; or ""
};
export type Output = { readonly name: string; readonly sensitive: boolean; readonly value: unknown };

export type Progress = {
	readonly rows: Map<string, ApplyRow>;
	readonly diagnostics: Diagnostic[];
	outputs: readonly Output[];
	readonly planned: PlannedChange[]; // at most maxRows
	found: number; // all planned changes
	readonly queried: Found[]; // at most maxRows
	queriedCount: number; // all resources that a query has found
	refreshing: number;
	refreshed: number;
	structured: boolean; // the log has lines of JSON
};

export function progressNew(): Progress {
	return {
		rows: new Map(),
		diagnostics: [],
		outputs: [],
		planned: [],
		found: 0,
		queried: [],
		queriedCount: 0,
		refreshing: 0,
		refreshed: 0,
		structured: false,
	};
}

const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);

// Actions that an apply reports. Of moves, imports and removals from the state it reports nothing.
const worked = new Set(["create", "update", "delete", "replace", "read", "open", "renew", "close"]);

const maxRows = 50_000;
const maxDiagnostics = 1000;

function rowAt(progress: Progress, source: unknown): ApplyRow | undefined {
	const object = membersOf(source);
	const address = textIn(membersOf(object.resource), "addr");
	const known = progress.rows.get(address);
	if (known || !address || progress.rows.size >= maxRows) {
		return known;
	}
	const action = textIn(object, "action");
	const row: ApplyRow = {
		address,
		action,
		state: "pending",
		started: 0,
		ended: 0,
		id: "",
		steps: action === "replace" ? 2 : 1,
		note: "",
		deletes: false,
	};
	progress.rows.set(address, row);
	return row;
}

function diagnosticOf(source: unknown): Diagnostic {
	const object = membersOf(source);
	const range = membersOf(object.range);
	const snippet = membersOf(object.snippet);
	const values = listIn(snippet.values);
	return {
		severity: object.severity === "warning" ? "warning" : "error",
		summary: textIn(object, "summary"),
		detail: textIn(object, "detail"),
		place: {
			address: textIn(object, "address"),
			file: textIn(range, "filename"),
			line: numberOf(membersOf(range.start).line),
			code: textIn(snippet, "code"),
			codeLine: numberOf(snippet.start_line),
			from: numberOf(snippet.highlight_start_offset),
			to: numberOf(snippet.highlight_end_offset),
			values: values.map((value) => `${textIn(value, "traversal")} ${textIn(value, "statement")}`),
		},
	};
}

// identityText: the attributes of an identity in the order of their names.
function identityText(identity: unknown): string {
	const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
	return Object.entries(membersOf(identity))
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, value]) => `${name}=${shown(value)}`)
		.join(", ");
}

function foundOf(source: unknown): Found {
	const object = membersOf(source);
	return {
		address: textIn(object, "address"),
		type: textIn(object, "resource_type"),
		identity: identityText(object.identity),
		name: textIn(object, "display_name"),
		config: [textIn(object, "config"), textIn(object, "import_config")].filter((part) => part !== "").join("\n\n"),
	};
}

type Reader = (progress: Progress, event: Members, at: number) => void;

const change =
	(set: (row: ApplyRow, at: number, hook: Members) => void): Reader =>
	(progress, event, at) => {
		const hook = membersOf(event.hook);
		const row = rowAt(progress, hook);
		if (row) {
			set(row, at, hook);
		}
	};

const readers: Readonly<Record<string, Reader>> = {
	planned_change: (progress, event) => {
		const source = membersOf(event.change);
		const address = textIn(membersOf(source.resource), "addr");
		progress.found += 1;
		if (address && progress.planned.length < maxRows) {
			const previous = textIn(membersOf(source.previous_resource), "addr");
			progress.planned.push({ address, action: textIn(source, "action"), previous, reason: textIn(source, "reason") });
		}
		if (worked.has(textIn(source, "action"))) {
			rowAt(progress, source);
		}
	},
	list_resource_found: (progress, event) => {
		progress.queriedCount += 1;
		if (progress.queried.length < maxRows) {
			progress.queried.push(foundOf(event.list_resource_found));
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
		progress.outputs = Object.entries(membersOf(event.outputs)).map(([name, source]) => {
			const output = membersOf(source);
			return { name, sensitive: output.sensitive === true, value: output.value };
		});
	},
	apply_start: change((row, at, hook) => {
		row.deletes = hook.action === "delete";
		row.state = "running";
		row.started ||= at;
	}),
	provision_start: change((row, _, hook) => {
		row.state = "provisioning";
		row.note = textIn(hook, "provisioner");
	}),
	provision_complete: change((row) => {
		row.state = "running";
	}),
	// A created resource whose provisioner failed exists, and terraform replaces it next time. One that could not be
	// destroyed stays as it is.
	provision_errored: change((row) => {
		row.state = row.deletes ? "failed" : "tainted";
	}),
	apply_complete: change((row, at, hook) => {
		row.steps -= 1;
		row.state = row.steps > 0 ? "running" : "done";
		row.ended = at;
		row.id = hook.action === "delete" ? row.id : textIn(hook, "id_value");
	}),
	apply_errored: change((row, at) => {
		row.state = row.state === "tainted" ? "tainted" : "failed";
		row.ended = at;
	}),
};

const readType = new RegExp(`"type":"(?:${Object.keys(readers).join("|")})"`);

// eventRead adds one line of a log. Lines that are not JSON, and events that it does not know, change nothing.
export function eventRead(progress: Progress, line: string): void {
	if (!line.startsWith("{")) {
		return;
	}
	if (!readType.test(line)) {
		progress.structured ||= line.includes('"type":"');
		return;
	}
	let event: Members;
	try {
		event = membersOf(JSON.parse(line));
	} catch {
		return;
	}
	const type = textIn(event, "type");
	if (type) {
		progress.structured = true;
	}
	if (Object.hasOwn(readers, type)) {
		readers[type]?.(progress, event, Date.parse(textIn(event, "@timestamp")) || 0);
	}
}

// EventBytes reads the ranges of a log, in their order. STX, which the worker writes before the first line, is left out.
export class EventBytes {
	readonly progress = progressNew();
	readonly #decoder = new TextDecoder();
	#rest = ""; // of a line whose end is not there yet

	add(range: Uint8Array): void {
		const [end = "", ...lines] = this.#decoder.decode(range, { stream: true }).split("\n");
		this.#rest += end;
		for (const line of lines) {
			eventRead(this.progress, this.#rest.replace("\x02", ""));
			this.#rest = line;
		}
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
