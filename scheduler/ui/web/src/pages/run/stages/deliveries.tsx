// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../../components/fold.tsx";
import { Content } from "../../../components/states.tsx";
import { type Column, PlainTable } from "../../../components/table.tsx";
import { TimeAgo } from "../../../components/time_ago.tsx";
import { address, segment } from "../../../core/api.ts";
import { useDocument, useLive } from "../../../core/hooks.ts";
import { number, type Resource, text } from "../../../core/resource.ts";

const columns: readonly Column[] = [
	{ key: "sent", head: "Sent", cell: (delivery) => <TimeAgo time={delivery.attributes["sent-at"]} /> },
	{
		key: "answer",
		head: "Answer",
		class: "as-written",
		cell: (delivery) => `${number(delivery, "status") || "none"} ${text(delivery, "error") || text(delivery, "answer").slice(0, 500)}`,
	},
	{ key: "time", head: "Time", class: "number", cell: (delivery) => `${(number(delivery, "seconds") ?? 0).toFixed(2)} s` },
];

function DeliveryList({ result, run }: { readonly result: Resource; readonly run: string }) {
	const deliveries = useDocument(address(`/task-results/${segment(result.id)}/deliveries`));
	const open = ["pending", "running"].includes(text(result, "status"));
	useLive(open ? [`run:${run}`] : [], () => void deliveries.reload());
	return (
		<Content of={deliveries}>
			{() =>
				deliveries.items.length === 0 ? (
					<p class="muted">No request has been sent.</p>
				) : (
					<PlainTable
						caption="Requests to the task's service"
						columns={columns}
						rows={deliveries.items}
						keyOf={(delivery) => delivery.id}
					/>
				)
			}
		</Content>
	);
}

// The requests to the service of a run task, the newest first.
export function Deliveries({ result, run }: { readonly result: Resource; readonly run: string }) {
	return (
		<Fold class="inner" open={false} summary="Delivery log">
			{() => <DeliveryList result={result} run={run} />}
		</Fold>
	);
}
