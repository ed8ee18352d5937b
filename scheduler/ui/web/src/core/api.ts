// SPDX-License-Identifier: MPL-2.0
// Requests to the API with the session's cookie. Answers go into the store.

import { answerReceived, requestFailed } from "./connection.ts";
import { ApiError, offlineError, problemsOf } from "./errors.ts";
import type { Document, Resource } from "./resource.ts";
import { session, sessionRefresh, signIn } from "./session.ts";
import { store } from "./store.ts";

const base = "/api/v2";
const jsonApi = "application/vnd.api+json";

export type Parameters = Readonly<Record<string, string | number | undefined>>;

// address: a path below /api/v2, or one that begins with /api/. Parts of a path that are values go through segment().
export function address(path: string, parameters: Parameters = {}): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters)) {
		if (value !== undefined && value !== "") {
			query.set(name, String(value));
		}
	}
	const text = query.toString();
	return (path.startsWith("/api/") ? "" : base) + path + (text && `?${text}`);
}

export function segment(value: string): string {
	return encodeURIComponent(value);
}

async function send(url: string, options: RequestInit): Promise<Response> {
	try {
		const answer = await fetch(url, { credentials: "same-origin", ...options });
		answerReceived(answer.status);
		return answer;
	} catch (error) {
		if (!options.signal?.aborted) {
			requestFailed();
			throw offlineError();
		}
		throw error;
	}
}

const limitMs = 60_000; // a connection may be lost without a sign, such as after a sleep
const pingMs = 10_000;

async function limited<T>(ms: number, signal: AbortSignal | undefined, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
	const limit = new AbortController();
	const stop = () => limit.abort();
	const timer = setTimeout(stop, ms);
	signal?.addEventListener("abort", stop);
	try {
		return await work(limit.signal);
	} catch (error) {
		if (limit.signal.aborted && !signal?.aborted) {
			requestFailed();
			throw offlineError();
		}
		throw error;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", stop);
	}
}

// ping: whether the server answers. The answer tells the connection's state (connection.ts).
export async function ping(): Promise<boolean> {
	try {
		return (await limited(pingMs, undefined, (signal) => send(`${base}/ping`, { signal, cache: "no-store" }))).status < 500;
	} catch {
		return false;
	}
}

export async function refused(answer: Response): Promise<ApiError> {
	let body: unknown = null;
	try {
		body = await answer.json();
	} catch {}
	const problems = problemsOf(body);
	return new ApiError(answer.status, problems, answer.headers.get("X-Request-Id") ?? "");
}

// Answers below /admin show other attributes of an object than the answers of its organization. So they are objects of
// their own in the store: admin-organizations, admin-users.
export function siteView(url: string, document: Document): Document {
	const own = (resource: Resource): Resource => ({ ...resource, type: `admin-${resource.type}` });
	const { data } = document;
	if (!url.startsWith(`${base}/admin/`) || !data) {
		return document;
	}
	return { ...document, data: Array.isArray(data) ? data.map(own) : own(data as Resource) };
}

async function documentOf(answer: Response): Promise<Document> {
	if (answer.status === 401) {
		signIn();
	}
	if (!answer.ok) {
		throw await refused(answer);
	}
	const text = await answer.text();
	return text ? (JSON.parse(text) as Document) : { data: null };
}

// read: GET. The document's objects are in the store before it returns, unless they are not JSON:API.
export async function read(url: string, signal?: AbortSignal, stored = true): Promise<Document> {
	const document = await limited(limitMs, signal, async (limit) =>
		documentOf(await send(url, { headers: { Accept: jsonApi }, signal: limit })),
	);
	if (!stored) {
		return document;
	}
	const shown = siteView(url, document);
	store.put(shown);
	return shown;
}

// readAll: GET of a list, page by page until the last one. The answer has the items of all.
export async function readAll(url: string, signal?: AbortSignal): Promise<Document> {
	const data: Resource[] = [];
	for (let page = 1; ; page++) {
		const document = await read(`${url}${url.includes("?") ? "&" : "?"}page%5Bnumber%5D=${page}`, signal);
		data.push(...(document.data as readonly Resource[]));
		if (!document.meta?.pagination?.["next-page"]) {
			return { data };
		}
	}
}

// bytes: GET of a text or file, such as a log.
export async function bytes(url: string, signal?: AbortSignal): Promise<Uint8Array> {
	return limited(limitMs, signal, async (limit) => {
		const answer = await send(url, { signal: limit });
		if (!answer.ok) {
			throw await refused(answer);
		}
		return new Uint8Array(await answer.arrayBuffer());
	});
}

export type Method = "POST" | "PATCH" | "PUT" | "DELETE";

async function changeOnce(method: Method, url: string, body: unknown): Promise<Response> {
	const headers: Record<string, string> = { Accept: jsonApi, "X-CSRF-Token": session().csrf };
	if (body !== undefined) {
		headers["Content-Type"] = body instanceof Blob ? "application/octet-stream" : jsonApi;
	}
	return send(url, { method, headers, ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }) });
}

function isTokenProblem(error: ApiError): boolean {
	return error.status === 403 && error.message.includes("X-CSRF-Token");
}

// change: a request that changes something. A body is a JSON:API document, or a file as a Blob. It is sent again once if only the CSRF token was old.
export async function change(method: Method, url: string, body?: unknown): Promise<Document> {
	const answer = await changeOnce(method, url, body);
	try {
		return await changed(url, answer);
	} catch (error) {
		if (!(error instanceof ApiError) || !isTokenProblem(error) || !(await sessionRefresh())) {
			throw error;
		}
		return changed(url, await changeOnce(method, url, body));
	}
}

async function changed(url: string, answer: Response): Promise<Document> {
	const document = siteView(url, await documentOf(answer));
	store.put(document);
	return document;
}

// pathOnPage: the path and query of an address that names the public URL, for this page's own origin.
export function pathOnPage(url: string): string {
	const parsed = new URL(url, location.origin);
	return parsed.pathname + parsed.search;
}
