// SPDX-License-Identifier: MPL-2.0
import { counted, money, moneyDelta } from "../../../core/format.ts";
import { number, object, type Resource, text } from "../../../core/resource.ts";

type Priced = {
	readonly address: string;
	readonly prior: string;
	readonly proposed: string;
	readonly delta: string;
	readonly reason: string;
};

const most = 10;

function priced(value: unknown): readonly Priced[] {
	const list = Array.isArray(value) ? value : [];
	return list.map((item) => {
		const field = (name: string) => (typeof item?.[name] === "string" ? (item[name] as string) : "");
		return {
			address: field("address"),
			prior: field("prior"),
			proposed: field("proposed"),
			delta: field("delta"),
			reason: field("reason"),
		};
	});
}

function CostTable({ rows, currency }: { readonly rows: readonly Priced[]; readonly currency: string }) {
	return (
		<table>
			<caption class="sr-only">The largest differences a month</caption>
			<thead>
				<tr>
					<th scope="col">Resource</th>
					<th scope="col" class="number">
						Now
					</th>
					<th scope="col" class="number">
						After
					</th>
					<th scope="col" class="number">
						Difference
					</th>
				</tr>
			</thead>
			<tbody>
				{rows.map((row) => (
					<tr key={row.address}>
						<td>
							<code>{row.address}</code>
						</td>
						<td class="number">{money(row.prior, currency)}</td>
						<td class="number">{money(row.proposed, currency)}</td>
						<td class="number">{moneyDelta(row.delta, currency)}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

// The estimate of monthly costs. An error is shown and stops nothing.
export function CostContent({ estimate }: { readonly estimate: Resource }) {
	const status = text(estimate, "status");
	const currency = text(estimate, "currency");
	if (status === "errored") {
		return (
			<p class="note wait">{text(estimate, "error-message") || "The costs could not be estimated."} The run goes on without an estimate.</p>
		);
	}
	if (status !== "finished") {
		return <p class="muted">The costs have not been estimated yet.</p>;
	}
	const resources = object(estimate, "resources");
	const size = (row: Priced) => Math.abs(Number(row.delta)) || 0;
	const rows = [...priced(resources.matched)].sort((a, b) => size(b) - size(a));
	const unpriced = number(estimate, "unmatched-resources-count") ?? 0;
	return (
		<>
			<p>
				<strong>{moneyDelta(text(estimate, "delta-monthly-cost"), currency)} a month</strong>: from{" "}
				{money(text(estimate, "prior-monthly-cost"), currency)} to {money(text(estimate, "proposed-monthly-cost"), currency)}.
			</p>
			{rows.length > 0 && <CostTable rows={rows.slice(0, most)} currency={currency} />}
			{rows.length > most && (
				<p class="muted">
					The {most} largest differences of {counted(rows.length, "resource")}.
				</p>
			)}
			{unpriced > 0 && <p class="muted">{counted(unpriced, "resource")} not priced.</p>}
		</>
	);
}
