// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorPanel } from "../../../components/error_panel.tsx";
import { bytes, pathOnPage } from "../../../core/api.ts";
import { type ApiError, errorOf } from "../../../core/errors.ts";
import { size } from "../../../core/format.ts";
import { type Resource, text } from "../../../core/resource.ts";
import { tail } from "../../../core/tail.ts";
import { LogText } from "./log_text.ts";

const rangeBytes = 1 << 20;

type Props = {
	readonly operation: Resource; // the plan or the apply
	readonly kind: "plan" | "apply";
	readonly reload: () => Promise<void>; // reads the operation again, for a new address of its log
};

// The bytes of the log from the offset on. A signed address that has expired is read again.
function useRange(operation: Resource, reload: () => Promise<void>): (offset: number) => Promise<Uint8Array> {
	const latest = useRef({ operation, reload });
	latest.current = { operation, reload };
	const range = (offset: number) => {
		const path = pathOnPage(text(latest.current.operation, "log-read-url"));
		return bytes(`${path}${path.includes("?") ? "&" : "?"}offset=${offset}&limit=${rangeBytes}`);
	};
	return async (offset) => {
		try {
			return await range(offset);
		} catch (failure) {
			if (errorOf(failure).status !== 404) {
				throw failure;
			}
			await latest.current.reload();
			return range(offset);
		}
	};
}

// The log of a plan or an apply, until its end.
export function Log({ operation, kind, reload }: Props) {
	const [shown, setShown] = useState("");
	const [error, setError] = useState<ApiError | undefined>();
	const [attempt, setAttempt] = useState(0);
	const log = useRef({ text: new LogText(), offset: 0 });
	const range = useRange(operation, reload);
	const there = text(operation, "log-read-url") !== "";
	const read = async (offset: number) => {
		try {
			const part = await range(offset);
			setError(undefined);
			return part;
		} catch (failure) {
			setError(errorOf(failure));
			throw failure;
		}
	};
	const add = (part: Uint8Array) => {
		log.current.offset += part.length;
		const added = log.current.text.add(part);
		setShown((old) => old + added);
	};
	useEffect(() => {
		if (!there || log.current.text.ended) {
			return;
		}
		return tail(operation.id, log.current.offset, add, read);
	}, [operation.id, there, attempt]);
	return (
		<div class="log">
			<p class="muted">
				{size(log.current.offset)}, {log.current.text.ended ? "ended" : "live"}
			</p>
			{error && error.status !== 404 && <ErrorPanel error={error} onRetry={() => setAttempt(attempt + 1)} />}
			{/* biome-ignore lint/a11y/useSemanticElements: a section holds no preformatted text by itself */}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys */}
			<pre role="region" tabIndex={0} aria-label={`Log of the ${kind}`}>
				{shown || "Nothing yet."}
			</pre>
		</div>
	);
}
