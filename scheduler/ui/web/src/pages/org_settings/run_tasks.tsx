// SPDX-License-Identifier: MPL-2.0
import { Fold } from "../../components/fold.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linksOf, object, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { Options, Values } from "../../objects/fields.ts";
import { namesOf, type ObjectKind } from "../../objects/kinds.ts";
import { enforcements, stages } from "../task_words.ts";
import { ObjectPages } from "./object_page.tsx";

const isGlobal = (values: Values) => values["global-configuration.enabled"] === true;

const noPool = "None: the site sends them";

const kind: ObjectKind = {
	type: "tasks",
	one: "run task",
	many: "Run tasks",
	empty: "No run tasks. A run task asks an external service to check runs.",
	name: (item) => text(item, "name"),
	item: (id) => `/tasks/${segment(id)}`,
	opens: true,
	fields: [
		{ name: "name", label: "Name", kind: "text" },
		{ name: "url", label: "Endpoint URL", kind: "url", hint: "It gets a test request when you save it, and must answer with 200." },
		{
			name: "agent-pool",
			label: "Agent pool that sends the requests",
			kind: "choice",
			relation: "agent-pools",
			hint: "For a service that only workers of this pool reach. One of them must run with request forwarding.",
			options: [["", noPool]],
		},
		{ name: "description", label: "Description", kind: "text" },
		{
			name: "hmac-key",
			label: "HMAC key",
			kind: "secret",
			hint: "Requests are signed with it. It is never shown again. Empty: it stays as it is.",
		},
		{ name: "enabled", label: "Enabled", kind: "flag", initial: true },
		{ name: "global-configuration.enabled", label: "Use it in all workspaces", kind: "flag", only: "update" },
		{
			name: "global-configuration.stages",
			label: "Stages in all workspaces",
			kind: "set",
			options: stages,
			only: "update",
			shown: isGlobal,
		},
		{
			name: "global-configuration.enforcement-level",
			label: "Enforcement in all workspaces",
			kind: "choice",
			options: enforcements,
			initial: "advisory",
			only: "update",
			shown: isGlobal,
		},
	],
	columns: [
		{ key: "url", head: "Endpoint URL", cell: (item) => <code>{text(item, "url")}</code> },
		{
			key: "enabled",
			head: "State",
			cell: (item) => (flag(item, "enabled") ? <Mark tone="success">Enabled</Mark> : <Mark tone="muted">Disabled</Mark>),
		},
		{ key: "used", head: "Workspaces", class: "wide", cell: usedBy },
	],
	removes: "Runs no longer ask its service. Results of earlier runs stay.",
};

function usedBy(item: Resource) {
	return object(item, "global-configuration").enabled === true ? "All" : String(linksOf(item, "workspace-tasks").length);
}

function withPools(pools: readonly Resource[]): ObjectKind {
	const options: Options = [["", noPool], ...namesOf(pools)];
	return { ...kind, fields: kind.fields.map((field) => (field.name === "agent-pool" ? { ...field, options } : field)) };
}

export default function RunTasks({ params }: PageProps) {
	const pools = useDocument(address(`/organizations/${segment(params.org ?? "")}/agent-pools`, { "page[size]": 100 }));
	return (
		<ObjectPages
			params={params}
			section="run-tasks"
			intro="Attach run tasks to workspaces in their settings."
			kind={withPools(pools.items)}
			below="/tasks"
			right="can-manage-run-tasks"
			what="manage run tasks"
		>
			{({ item, reason }) =>
				!reason && (
					<Fold summary="Example request" open={false}>
						{() => <Example id={item.id} />}
					</Fold>
				)
			}
		</ObjectPages>
	);
}

// A request as the service gets it, signed with the task's key.
function Example({ id }: { readonly id: string }) {
	const of = useDocument(address(`${kind.item(id)}/example`));
	const headers = Object.entries(object(of.item, "headers"));
	return (
		<Content of={of}>
			{() => (
				<>
					<p>The service gets this request. The signature is the HMAC-SHA512 of the body.</p>
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
					<pre tabIndex={0}>
						{[`${text(of.item, "method")} ${text(of.item, "url")}`, ...headers.map(([name, value]) => `${name}: ${value}`)].join("\n")}
					</pre>
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
					<pre tabIndex={0}>{JSON.stringify(object(of.item, "payload"), null, 2)}</pre>
				</>
			)}
		</Content>
	);
}
