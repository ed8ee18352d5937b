// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorPanel } from "../../../components/error_panel.tsx";
import { bytes, pathOnPage } from "../../../core/api.ts";
import { type ApiError, errorOf } from "../../../core/errors.ts";
import { size } from "../../../core/format.ts";
import { useLive } from "../../../core/hooks.ts";
import { type Resource, text } from "../../../core/resource.ts";
import { LogText } from "./log_text.ts";

const rangeBytes = 1 << 20;

type Props = {
	readonly operation: Resource; // the plan or the apply
	readonly kind: "plan" | "apply";
	readonly reload: () => Promise<void>; // reads the operation again, for a new address of its log
};

// The log of a plan or an apply, in ranges, until its end.
export function Log({ operation, kind, reload }: Props) {
	const [shown, setShown] = useState("");
	const [error, setError] = useState<ApiError | undefined>();
	const log = useRef({ text: new LogText(), offset: 0, busy: false });
	const url = text(operation, "log-read-url");
	const latest = useRef(url);
	latest.current = url;

	const advance = async () => {
		const state = log.current;
		if (state.busy || state.text.ended || !latest.current) {
			return;
		}
		state.busy = true;
		try {
			for (let more = true; more && !state.text.ended; ) {
				const path = pathOnPage(latest.current);
				const range = await bytes(`${path}${path.includes("?") ? "&" : "?"}offset=${state.offset}&limit=${rangeBytes}`);
				state.offset += range.length;
				more = range.length > 0;
				const added = state.text.add(range);
				setShown((old) => old + added);
			}
			setError(undefined);
		} catch (failure) {
			const problem = errorOf(failure);
			setError(problem);
			if (problem.status === 404) {
				await reload(); // the signed address has expired
			}
		} finally {
			state.busy = false;
		}
	};
	useEffect(() => void advance(), [url !== ""]);
	useLive(log.current.text.ended ? [] : [`log:${operation.id}@${log.current.offset}`], () => void advance());
	return (
		<div class="log">
			<p class="muted">
				{size(log.current.offset)}, {log.current.text.ended ? "ended" : "live"}
			</p>
			{error && error.status !== 404 && <ErrorPanel error={error} onRetry={advance} />}
			{/* biome-ignore lint/a11y/useSemanticElements: a section holds no preformatted text by itself */}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys */}
			<pre role="region" tabIndex={0} aria-label={`Log of the ${kind}`}>
				{shown || "Nothing yet."}
			</pre>
		</div>
	);
}
