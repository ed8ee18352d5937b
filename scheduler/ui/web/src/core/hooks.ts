// SPDX-License-Identifier: MPL-2.0
// Hooks for pages: documents of the API, the address, the time.

import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { read } from "./api.ts";
import { inTurn } from "./coalesce.ts";
import { type Connection, connectionNow, onConnection } from "./connection.ts";
import { ApiError, errorOf } from "./errors.ts";
import { type LiveEvent, onCatchUp, subscribe } from "./live.ts";
import type { Document, Linkage, PageNumbers, Resource } from "./resource.ts";
import { onAddress, queryNow } from "./router.ts";
import { store } from "./store.ts";

export function useRender(): () => void {
	return useReducer((count: number) => count + 1, 0)[1] as () => void;
}

// useAttempt: `attempt` runs an action, and keeps its error until the next one.
export function useAttempt() {
	const [error, setError] = useState<ApiError | undefined>();
	const attempt = async (action: () => Promise<unknown>) => {
		try {
			setError(undefined);
			await action();
		} catch (failure) {
			setError(errorOf(failure));
		}
	};
	return { error, attempt };
}

// useStopped: true in `current` once the component is gone, for an action of several requests that ends with it.
export function useStopped(): { readonly current: boolean } {
	const stopped = useRef(false);
	useLayoutEffect(
		() => () => {
			stopped.current = true;
		},
		[],
	);
	return stopped;
}

export type Loaded = {
	readonly item: Resource | undefined; // of a document with one object
	readonly items: readonly Resource[]; // of a document with a list
	readonly pages: PageNumbers | undefined;
	readonly meta: Document["meta"] | undefined;
	readonly error: ApiError | undefined;
	readonly loading: boolean; // nothing to show yet
	readonly asOf: number; // the time of the answer
	readonly reload: () => Promise<void>;
};

type State = { url: string; links: readonly Linkage[]; single: boolean; meta: Document["meta"] | undefined; asOf: number };

// useDocument reads the address and keeps what it shows current in the store. undefined: nothing to read. `load` is read,
// or readAll for all pages of a list.
export function useDocument(url: string | undefined, load: (url: string, signal: AbortSignal) => Promise<Document> = read): Loaded {
	const render = useRender();
	const state = useRef<State | undefined>(undefined);
	const [error, setError] = useState<ApiError | undefined>();
	const latest = useRef(url);
	latest.current = url;
	const reading = useRef<AbortController | undefined>(undefined);

	const readOnce = async () => {
		if (url === undefined) {
			return;
		}
		const abort = new AbortController();
		reading.current = abort;
		try {
			const document = await load(url, abort.signal);
			if (latest.current !== url) {
				return;
			}
			const data = document.data;
			const list = Array.isArray(data) ? data : data ? [data as Resource] : [];
			state.current = {
				url,
				links: list.map(({ type, id }) => ({ type, id })),
				single: !Array.isArray(data),
				meta: document.meta,
				asOf: Date.now(),
			};
			setError(undefined);
			render();
		} catch (failure) {
			if (latest.current === url && !abort.signal.aborted) {
				setError(errorOf(failure));
			}
		}
	};
	const reload = useCallback(inTurn(readOnce), [url]);

	useEffect(() => store.listen(render), []);
	// The request starts before the next frame is drawn, which saves up to 16 ms.
	useLayoutEffect(() => {
		setError(undefined);
		void reload();
		return onCatchUp(() => {
			reading.current?.abort(); // its connection may be dead
			void reload();
		});
	}, [reload]);

	const shown = state.current?.url === url ? state.current : undefined;
	const items = shown ? shown.links.flatMap((link) => store.get(link) ?? []) : [];
	return {
		item: shown?.single ? items[0] : undefined,
		items,
		pages: shown?.meta?.pagination,
		meta: shown?.meta,
		error,
		loading: url !== undefined && !shown && !error,
		asOf: shown?.asOf ?? 0,
		reload,
	};
}

// missingUnless: an object that the address does not name reads like one that does not exist.
export function missingUnless(named: boolean, of: Loaded): Loaded {
	return named ? of : { ...of, item: undefined, error: new ApiError(404, []), asOf: 0 };
}

// useRead: a value that is not a document of the API. Another `key` reads again; undefined: nothing to read.
export function useRead<T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>) {
	type Read = { readonly key: string | undefined; readonly value?: T; readonly error?: ApiError };
	const [found, setFound] = useState<Read>({ key: undefined });
	const [round, again] = useReducer((count: number) => count + 1, 0);
	useEffect(() => {
		if (key === undefined) {
			return;
		}
		const stop = new AbortController();
		load(stop.signal).then(
			(value) => setFound({ key, value }),
			(failure) => stop.signal.aborted || setFound({ key, error: errorOf(failure) }),
		);
		return () => stop.abort();
	}, [key, round]);
	const shown = found.key === key ? found : undefined;
	return { value: shown?.value, error: shown?.error, again: again as () => void };
}

// useLive calls onEvent for changes of the topics while the component is shown.
export function useLive(topics: readonly string[], onEvent: (event: LiveEvent) => void): void {
	const handler = useRef(onEvent);
	handler.current = onEvent;
	const key = topics.join(" ");
	useEffect(() => (key ? subscribe(key.split(" "), (event) => handler.current(event)) : undefined), [key]);
}

export function useConnection(): Connection {
	const render = useRender();
	useEffect(() => onConnection(render), []);
	return connectionNow();
}

// useQuery: the query of the page's address. While the next page loads, the address is already the next one's.
export function useQuery(): URLSearchParams {
	const render = useRender();
	const own = useRef({ path: location.pathname, query: queryNow() }).current;
	if (location.pathname === own.path) {
		own.query = queryNow();
	}
	useEffect(() => onAddress(render), []);
	return own.query;
}

// useFragment: the address' fragment, with its "#".
export function useFragment(): string {
	const render = useRender();
	useEffect(() => {
		addEventListener("hashchange", render);
		const stop = onAddress(render);
		return () => {
			removeEventListener("hashchange", render);
			stop();
		};
	}, []);
	return location.hash;
}

// textScale: how large the browser's text is, as a multiple of 16 pixels.
export function textScale(): number {
	return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;
}

// useInterval calls `call` every `ms` while the page is visible: for what changes without an event.
export function useInterval(ms: number, call: () => unknown): void {
	const latest = useRef(call);
	latest.current = call;
	useEffect(() => {
		const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), ms);
		return () => clearInterval(timer);
	}, [ms]);
}

// useNow: the time, once in every `ms`.
export function useNow(ms = 1000): number {
	const [now, setNow] = useState(Date.now());
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), ms);
		return () => clearInterval(timer);
	}, [ms]);
	return now;
}

// useDelayed: true once `on` has been true for 150 ms, so that fast answers show no skeleton.
export function useDelayed(on: boolean, ms = 150): boolean {
	const [late, setLate] = useState(false);
	useEffect(() => {
		setLate(false);
		if (!on) {
			return;
		}
		const timer = setTimeout(() => setLate(true), ms);
		return () => clearTimeout(timer);
	}, [on, ms]);
	return on && late;
}

// useLater: the value once it has stayed the same for `ms`, such as a text after the last key.
export function useLater<T>(value: T, ms = 300): T {
	const [late, setLate] = useState(value);
	useEffect(() => {
		const timer = setTimeout(() => setLate(value), ms);
		return () => clearTimeout(timer);
	}, [value]);
	return late;
}

// useHeight: of an element's content, which changes with the window.
export function useHeight(element: { readonly current: Element | null }, first = 0): number {
	const [height, setHeight] = useState(first);
	useEffect(() => {
		if (!element.current) {
			return;
		}
		const observer = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 0));
		observer.observe(element.current);
		return () => observer.disconnect();
	}, []);
	return height;
}

// toggled: the set with the value, or without it if it has it.
export function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
	const next = new Set(set);
	if (!next.delete(value)) {
		next.add(value);
	}
	return next;
}

// useFocusBack: when what has the focus goes with its box, the focus returns to the element that had it before the box
// came, or else to the page's heading.
export function useFocusBack(box: { readonly current: Element | null }): void {
	useLayoutEffect(() => {
		const before = document.activeElement;
		return () => {
			const now = document.activeElement;
			if (now !== document.body && !box.current?.contains(now)) {
				return;
			}
			// A modal dialog must be gone before anything else takes the focus.
			queueMicrotask(() => {
				const next = before?.isConnected && before !== document.body ? before : document.querySelector("main h1");
				if (next instanceof HTMLElement) {
					next.focus();
				}
			});
		};
	}, []);
}
