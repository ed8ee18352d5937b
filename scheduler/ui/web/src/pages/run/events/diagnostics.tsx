// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef } from "preact/hooks";
import { counted } from "../../../core/format.ts";
import { type Diagnostic, type Place, type Problem, problemsOfLog } from "./log_events.ts";

const shownPlaces = 20;

function Snippet({ place }: { readonly place: Place }) {
	const { code, from, to } = place;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys
		<pre class="snippet" tabIndex={0}>
			<span class="muted">{place.codeLine} </span>
			{code.slice(0, from)}
			<mark>{code.slice(from, to)}</mark>
			{code.slice(to)}
		</pre>
	);
}

function PlaceLine({ place }: { readonly place: Place }) {
	return (
		<li>
			{place.address && <code>{place.address}</code>}{" "}
			{place.file && (
				<span class="muted">
					{place.address && "at "}
					<code>
						{place.file}:{place.line}
					</code>
				</span>
			)}
			{place.code && <Snippet place={place} />}
			{place.values.length > 0 && (
				<ul class="values muted">
					{place.values.map((value) => (
						<li key={value}>
							<code>{value}</code>
						</li>
					))}
				</ul>
			)}
		</li>
	);
}

function ProblemBox({ problem }: { readonly problem: Problem }) {
	const error = problem.severity === "error";
	const more = problem.places.length - shownPlaces;
	const places = problem.places.filter((place) => place.address || place.file);
	return (
		<div class={`note problem ${error ? "failure" : "wait"}`} data-problem={error || undefined} tabIndex={-1}>
			<h3>
				{error ? "Error" : "Warning"}: {problem.summary}
			</h3>
			{problem.detail && <p class="as-written">{problem.detail.trimEnd()}</p>}
			{problem.places.length > 1 && <p>At {counted(problem.places.length, "place")}:</p>}
			{places.length > 0 && (
				<ul class="places">
					{places.slice(0, shownPlaces).map((place, i) => (
						<PlaceLine key={`${place.address} ${place.file} ${place.line} ${i}`} place={place} />
					))}
				</ul>
			)}
			{more > 0 && <p class="muted">{counted(more, "more place")}: see the log.</p>}
		</div>
	);
}

// The errors and warnings of a plan or an apply. `reveal`: the first error is scrolled to.
export function Diagnostics({ list, reveal }: { readonly list: readonly Diagnostic[]; readonly reveal: boolean }) {
	const box = useRef<HTMLDivElement>(null);
	const problems = problemsOfLog(list);
	const errors = problems.filter((problem) => problem.severity === "error").length;
	useEffect(() => {
		if (reveal && errors > 0 && !location.hash && scrollY === 0) {
			box.current?.querySelector("[data-problem]")?.scrollIntoView({ block: "nearest" });
		}
	}, [errors > 0]);
	return problems.length === 0 ? null : (
		<div class="problems" ref={box}>
			{problems.map((problem, i) => (
				<ProblemBox key={`${problem.summary} ${i}`} problem={problem} />
			))}
		</div>
	);
}
