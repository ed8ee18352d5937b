// SPDX-License-Identifier: MPL-2.0
import { type Column, PlainTable } from "../../../components/table.tsx";
import { counted, money, moneyDelta } from "../../../core/format.ts";
import { listIn, number, object, type Resource, text, textIn } from "../../../core/resource.ts";

type Priced = { readonly address: string; readonly prior: string; readonly proposed: string; readonly delta: string };

const most = 10;

function priced(value: unknown): readonly Priced[] {
	return listIn(value).map((item) => ({
		address: textIn(item, "address"),
		prior: textIn(item, "prior"),
		proposed: textIn(item, "proposed"),
		delta: textIn(item, "delta"),
	}));
}

const columnsOf = (currency: string): readonly Column<Priced>[] => [
	{ key: "resource", head: "Resource", cell: (row) => <code>{row.address}</code> },
	{ key: "now", head: "Now", class: "number", cell: (row) => money(row.prior, currency) },
	{ key: "after", head: "After", class: "number", cell: (row) => money(row.proposed, currency) },
	{ key: "difference", head: "Difference", class: "number", cell: (row) => moneyDelta(row.delta, currency) },
];

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
			{rows.length > 0 && (
				<PlainTable
					caption="The largest differences a month"
					columns={columnsOf(currency)}
					rows={rows.slice(0, most)}
					keyOf={(row) => row.address}
				/>
			)}
			{rows.length > most && (
				<p class="muted">
					The {most} largest differences of {counted(rows.length, "resource")}.
				</p>
			)}
			{unpriced > 0 && <p class="muted">{counted(unpriced, "resource")} not priced.</p>}
		</>
	);
}
