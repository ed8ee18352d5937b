// SPDX-License-Identifier: MPL-2.0

import { SafeLink } from "../../components/safe_link.tsx";
import { Content } from "../../components/states.tsx";
import { address, readAll } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument, useInterval, useLive, useQuery } from "../../core/hooks.ts";
import { type Resource, text } from "../../core/resource.ts";
import { Chart } from "./chart.tsx";
import { columns, type RangeKey, rangeOf, ranges, samplesOf, series, spanOf } from "./samples.ts";
import { Pools, poolsOf, seconds, Tiles } from "./tiles.tsx";
import { PendingRuns, pageSize, RunTasks } from "./waiting.tsx";
import { Workers } from "./workers.tsx";

function RangeLinks({ range }: { readonly range: RangeKey }) {
	return (
		<nav class="chips charts-head" aria-label="Time of the charts">
			{Object.entries(ranges).map(([key, { word }]) => (
				<a key={key} class="chip" href={`?range=${key}`} aria-current={key === range ? "true" : undefined}>
					{word}
				</a>
			))}
		</nav>
	);
}

function Charts({ queue, range, asOf }: { readonly queue: Resource; readonly range: RangeKey; readonly asOf: number }) {
	const samples = samplesOf(queue.attributes.samples);
	const span = spanOf(range, asOf / 1000 - 60); // the sample of this minute is not there yet
	const line = (column: number, missing: 0 | null) => series(samples, column, span, missing);
	return (
		<div class="charts">
			<Chart
				title="Runs and slots"
				span={span}
				shown={count}
				lines={[
					{ word: "Pending", values: line(columns.pending, 0) },
					{ word: "Running", values: line(columns.running, 0) },
					{ word: "Slots", values: line(columns.slots, 0) },
				]}
			/>
			<Chart
				title="Start latency"
				span={span}
				shown={seconds}
				lines={[
					{ word: "Median", values: line(columns.p50, null) },
					{ word: "95 %", values: line(columns.p95, null) },
				]}
			/>
		</div>
	);
}

function sharedWorkers(queue: Resource): number {
	return poolsOf(queue).reduce((sum, pool) => sum + (pool.shared ? pool.workers : 0), 0);
}

const contactMs = 15_000; // contacts of workers and samples make no events

type Props = {
	readonly queueUrl: string;
	readonly workersUrl: string | undefined; // undefined: the user may not see workers
	readonly topic: string;
	readonly site?: boolean;
};

export function QueueView({ queueUrl, workersUrl, topic, site = false }: Props) {
	const query = useQuery();
	const range = rangeOf(query.get("range"));
	const page = Math.max(1, Number(query.get("page")) || 1);
	const queue = useDocument(address(queueUrl, { "page[number]": page, "page[size]": pageSize }));
	const workers = useDocument(workersUrl && address(workersUrl, { "page[size]": 100 }), readAll);
	const reload = () => {
		void queue.reload();
		void workers.reload();
	};
	useLive([topic], reload);
	useInterval(contactMs, reload);
	return (
		<Content of={queue}>
			{() =>
				queue.item && (
					<>
						<SafeLink href={text(queue.item, "grafana-url")}>Dashboards in Grafana</SafeLink>
						<Tiles queue={queue.item} />
						<Pools queue={queue.item} />
						<PendingRuns queue={queue.item} page={page} site={site} />
						{workersUrl && (
							<Workers
								of={workers}
								poolNames={new Map(poolsOf(queue.item).map((pool) => [pool.id, pool.name]))}
								shared={site ? 0 : sharedWorkers(queue.item)}
							/>
						)}
						<RunTasks queue={queue.item} />
						<RangeLinks range={range} />
						<Charts queue={queue.item} range={range} asOf={queue.asOf} />
					</>
				)
			}
		</Content>
	);
}
