// SPDX-License-Identifier: MPL-2.0
import { count, duration } from "../../core/format.ts";
import { list, number, type Resource } from "../../core/resource.ts";

type Tile = { readonly word: string; readonly value: string; readonly more?: string };

// seconds: "40 ms", "1.4 s", "12 s", "3m 04s"; "–" if nothing was measured.
export function seconds(value: number | undefined): string {
	if (value === undefined) {
		return "–";
	}
	if (value > 0 && value < 1) {
		return `${Math.max(1, Math.round(value * 1000))} ms`;
	}
	return value < 60 ? `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} s` : duration(value * 1000);
}

type Pool = {
	readonly id: string;
	readonly name: string;
	readonly shared: boolean;
	readonly slots: number;
	readonly busy: number;
	readonly workers: number;
};

export function poolsOf(queue: Resource): readonly Pool[] {
	return list(queue, "pools") as readonly Pool[];
}

function tilesOf(queue: Resource): readonly Tile[] {
	const counted = (name: string) => count(number(queue, name) ?? 0);
	const oldest = (of: string, age: string) => (number(queue, of) ? { more: `the oldest for ${seconds(number(queue, age))}` } : {});
	const tiles: Tile[] = [
		{ word: "Pending", value: counted("pending"), ...oldest("pending", "oldest-pending-seconds") },
		{ word: "Running", value: counted("running") },
		{ word: "Waiting for a person", value: counted("waiting-for-person") },
		{
			word: "Start latency",
			value: seconds(number(queue, "start-p50-seconds")),
			more: `median of 1 h; 95\u00a0%: ${seconds(number(queue, "start-p95-seconds"))}`,
		},
		{ word: "Errors in 1 h", value: counted("errors-last-hour") },
	];
	const site: Tile[] = [
		{ word: "Outbox", value: counted("outbox"), ...oldest("outbox", "outbox-age-seconds") },
		{ word: "Notifier backlog", value: counted("notifier-backlog") },
	];
	return number(queue, "outbox") === undefined ? tiles : [...tiles, ...site];
}

export function Tiles({ queue }: { readonly queue: Resource }) {
	return (
		<dl class="tiles">
			{tilesOf(queue).map((tile) => (
				<div key={tile.word} class="tile">
					<dt>{tile.word}</dt>
					<dd>
						<span class="tile-value">{tile.value}</span>
						{tile.more && <span class="muted"> {tile.more}</span>}
					</dd>
				</div>
			))}
		</dl>
	);
}

// The busy slots of each pool.
export function Pools({ queue }: { readonly queue: Resource }) {
	return (
		<ul class="pools" aria-label="Busy slots of pools">
			{poolsOf(queue).map((pool) => (
				<li key={pool.id}>
					<span>{pool.name}</span>
					<meter aria-label={`Busy slots of ${pool.name}`} min={0} max={Math.max(pool.slots, 1)} value={Math.min(pool.busy, pool.slots)} />
					<span class="muted">{pool.slots === 0 ? "no worker" : `${count(pool.busy)} of ${count(pool.slots)} slots busy`}</span>
				</li>
			))}
		</ul>
	);
}
