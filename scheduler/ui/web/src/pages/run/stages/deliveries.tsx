// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../../components/fold.tsx";
import { Content } from "../../../components/states.tsx";
import { TimeAgo } from "../../../components/time_ago.tsx";
import { address, segment } from "../../../core/api.ts";
import { useDocument, useLive } from "../../../core/hooks.ts";
import { number, type Resource, text } from "../../../core/resource.ts";

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
					<table>
						<caption class="sr-only">Requests to the task's service</caption>
						<thead>
							<tr>
								<th scope="col">Sent</th>
								<th scope="col">Answer</th>
								<th scope="col" class="number">
									Time
								</th>
							</tr>
						</thead>
						<tbody>
							{deliveries.items.map((delivery) => (
								<tr key={delivery.id}>
									<td>
										<TimeAgo time={delivery.attributes["sent-at"]} />
									</td>
									<td class="as-written">
										{number(delivery, "status") || "none"} {text(delivery, "error") || text(delivery, "answer").slice(0, 500)}
									</td>
									<td class="number">{(number(delivery, "seconds") ?? 0).toFixed(2)} s</td>
								</tr>
							))}
						</tbody>
					</table>
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
