// SPDX-License-Identifier: MPL-2.0
import { address, change, readAll, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linksOf, number, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { Workers } from "../queue/workers.tsx";
import { ObjectPages } from "./object_page.tsx";
import { type Linked, RelationList } from "./relation_list.tsx";
import { tokenKind } from "./token_kind.tsx";
import { projectsOf, workspacesOf } from "./words.ts";

const kind: ObjectKind = {
	type: "agent-pools",
	one: "agent pool",
	many: "Agent pools",
	empty: "No agent pools. With one, the organization's own workers execute runs, in networks that only they reach.",
	name: (item) => text(item, "name"),
	item: (id) => `/agent-pools/${segment(id)}`,
	opens: true,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "organization-scoped", label: "All workspaces may use it", kind: "flag", initial: true },
		{
			name: "concurrent-run-limit",
			label: "Runs at the same time",
			kind: "number",
			only: "update",
			hint: "0: as many as the workers have slots.",
		},
	],
	columns: [
		{ key: "workers", head: "Workers", class: "wide number", cell: (item) => count(number(item, "agent-count") ?? 0) },
		{ key: "workspaces", head: "Workspaces", class: "wide number", cell: (item) => count(linksOf(item, "workspaces").length) },
		{
			key: "scope",
			head: "Used by",
			class: "wide",
			cell: (item) => (flag(item, "organization-scoped") ? "All workspaces" : "Chosen workspaces and projects"),
		},
	],
	removes: "Its tokens stop working. A pool that workspaces use can't be deleted.",
};

const poolTokens: ObjectKind = {
	...tokenKind,
	empty: "No tokens. A worker needs one to connect.",
	removes: "Workers with this token claim no more runs. They finish those that they execute.",
};

export default function AgentPools({ params }: PageProps) {
	return (
		<ObjectPages
			params={params}
			section="agent-pools"
			kind={kind}
			below="/agent-pools"
			right="can-manage-agent-pools"
			what="manage agent pools"
		>
			{({ view, item: pool, reason, onDone }) => (
				<>
					{!reason && (
						<>
							<ObjectList
								kind={poolTokens}
								url={address(`${kind.item(pool.id)}/authentication-tokens`, { "page[size]": 100 })}
								createPath={`${kind.item(pool.id)}/authentication-tokens`}
								heading
							/>
							<PoolWorkers pool={pool} />
						</>
					)}
					{!flag(pool, "organization-scoped") &&
						[
							workspacesOf(view.path, "allowed-workspaces", "Workspaces that may use it"),
							projectsOf(view.path, "allowed-projects", "Projects that may use it"),
						].map((linked) => <Allowed key={linked.relation} pool={pool} linked={linked} reason={reason} onDone={onDone} />)}
				</>
			)}
		</ObjectPages>
	);
}

function PoolWorkers({ pool }: { readonly pool: Resource }) {
	const of = useDocument(address(`${kind.item(pool.id)}/agents`, { "page[size]": 100 }), readAll);
	return <Workers of={of} poolNames={new Map([[pool.id, text(pool, "name")]])} />;
}

type AllowedProps = {
	readonly pool: Resource;
	readonly linked: Linked;
	readonly reason: string | undefined;
	readonly onDone: () => Promise<void>;
};

// The API replaces the whole list.
function Allowed({ pool, linked, reason, onDone }: AllowedProps) {
	const save = (method: "POST" | "DELETE", id: string) => {
		const others = linksOf(pool, linked.relation).filter((link) => link.id !== id);
		const data = method === "POST" ? [...others, { type: linked.type, id }] : others;
		return change("PATCH", address(kind.item(pool.id)), { data: { type: kind.type, relationships: { [linked.relation]: { data } } } });
	};
	return <RelationList item={pool} linked={linked} change={save} empty="None." reason={reason} onDone={onDone} />;
}
