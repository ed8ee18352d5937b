// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../components/fold.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { list, type Resource } from "../../core/resource.ts";

type Delivery = { readonly code: string; readonly body: string; readonly sentAt: string; readonly ok: boolean };

const string = (value: unknown) => (typeof value === "string" ? value : value === undefined || value === null ? "" : String(value));

function deliveriesOf(item: Resource): readonly Delivery[] {
	return list(item, "delivery-responses").map((value) => {
		const delivery = (value ?? {}) as Readonly<Record<string, unknown>>;
		return {
			code: string(delivery.code),
			body: string(delivery.body),
			sentAt: string(delivery["sent-at"]),
			ok: string(delivery.successful) === "true",
		};
	});
}

function Line({ delivery }: { readonly delivery: Delivery }) {
	return (
		<>
			<Mark tone={delivery.ok ? "success" : "failure"}>{delivery.ok ? "Delivered" : "Failed"}</Mark> {delivery.code}{" "}
			<TimeAgo time={delivery.sentAt} />
		</>
	);
}

// The answers to the last messages, the newest first.
export function Deliveries({ item }: { readonly item: Resource }) {
	const deliveries = [...deliveriesOf(item)].sort((a, b) => b.sentAt.localeCompare(a.sentAt));
	const [newest] = deliveries;
	if (!newest) {
		return <span class="muted">None yet</span>;
	}
	return (
		<Fold open={false} summary={<Line delivery={newest} />}>
			{() =>
				deliveries.map((delivery, i) => (
					<div key={`${delivery.sentAt} ${i}`}>
						<Line delivery={delivery} />
						<pre>{delivery.body || "(empty)"}</pre>
					</div>
				))
			}
		</Fold>
	);
}
