// SPDX-License-Identifier: MPL-2.0
// A version of terraform, OPA or Sentinel that site admins list.

import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { Chip, Mark } from "../../components/status_mark.tsx";
import { address, change, segment } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { useAttempt } from "../../core/hooks.ts";
import { flag, number, type Resource, text } from "../../core/resource.ts";
import type { FieldRow } from "../../objects/fields.ts";
import type { ObjectKind } from "../../objects/kinds.ts";

const fields: readonly FieldRow[] = [
	{ name: "version", label: "Version", kind: "text", only: "create", hint: "Exact, such as 1.11.4 or 1.6.0-rc1." },
	{ name: "url", label: "URL of the archive", kind: "url", hint: "For linux/amd64, for your information. It begins with https://." },
	{ name: "sha", label: "SHA-256 of the archive", kind: "text", hint: "64 hexadecimal digits." },
	{ name: "enabled", label: "Enabled", kind: "flag", initial: true, hint: "A disabled version can't be selected." },
	{ name: "official", label: "Official", kind: "flag", hint: "A release of the vendor. Otherwise it is a build of your own." },
	{ name: "beta", label: "Beta", kind: "flag" },
	{ name: "deprecated", label: "Deprecated", kind: "flag", hint: "It can still be selected." },
	{
		name: "deprecated-reason",
		label: "Why it is deprecated",
		kind: "text",
		nullable: true,
		shown: (values) => values.deprecated === true,
	},
];

function State({ version }: { readonly version: Resource }) {
	return flag(version, "enabled") ? <Mark tone="success">Enabled</Mark> : <Mark tone="muted">Disabled</Mark>;
}

function Notes({ version }: { readonly version: Resource }) {
	const reason = text(version, "deprecated-reason");
	return (
		<>
			<Chip>{flag(version, "official") ? "Official" : "Custom"}</Chip> {flag(version, "beta") && <Chip>Beta</Chip>}{" "}
			{flag(version, "deprecated") && <Chip tone="wait">Deprecated</Chip>}
			{reason && <div class="muted">{reason}</div>}
		</>
	);
}

type SwitchProps = { readonly tool: Tool; readonly version: Resource; readonly reload: () => Promise<void> };

function Switch({ tool, version, reload }: SwitchProps) {
	const { error, attempt } = useAttempt();
	const word = flag(version, "enabled") ? "Disable" : "Enable";
	const send = () =>
		attempt(async () => {
			const attributes = { enabled: !flag(version, "enabled") };
			await change("PATCH", address(`/admin/${tool.type}/${segment(version.id)}`), { data: { type: tool.type, attributes } });
			announce(`${tool.word} ${text(version, "version")}: done`);
			await reload();
		});
	return (
		<>
			<Problems of={error} />
			<Button label={`${word} ${text(version, "version")}`} onPress={send}>
				{word}
			</Button>
		</>
	);
}

export function versionKind(tool: Tool): ObjectKind {
	return {
		type: tool.type,
		one: "version",
		many: `Versions of ${tool.word}`,
		empty: tool.empty,
		name: (item) => text(item, "version"),
		item: (id) => `/admin/${tool.type}/${segment(id)}`,
		fields,
		columns: [
			{ key: "state", head: "State", class: "tight", cell: (item) => <State version={item} /> },
			{ key: "notes", head: "Kind", class: "wide", cell: (item) => <Notes version={item} /> },
			{ key: "usage", head: tool.usage, class: "wide number", cell: (item) => count(number(item, "usage") ?? 0) },
		],
		actions: (item, reload) => <Switch tool={tool} version={item} reload={reload} />,
		keeps: (item) => ((number(item, "usage") ?? 0) > 0 ? "it is in use" : undefined),
		removes: "It is no longer listed. Workers keep the program.",
	};
}

// The programs whose versions site admins list.

export type Tool = {
	readonly key: string; // in the address
	readonly type: string; // of the versions in the API
	readonly word: string;
	readonly usage: string; // what selects a version
	readonly empty: string;
	readonly rule: string; // what the list decides
};

const listed = "No version matches. Without a list, all versions can be selected that workers have or can get.";

export const tools: readonly Tool[] = [
	{
		key: "",
		type: "terraform-versions",
		word: "Terraform",
		usage: "Workspaces",
		empty: listed,
		rule: "Workspaces can't select a disabled version, and no run starts with it.",
	},
	{
		key: "opa",
		type: "opa-versions",
		word: "OPA",
		usage: "Policy sets",
		empty: listed,
		rule: "The list is for clients that select a version.",
	},
	{
		key: "sentinel",
		type: "sentinel-versions",
		word: "Sentinel",
		usage: "Policy sets",
		empty: listed,
		rule: "The list is for clients that select a version.",
	},
];

export function toolOf(key: string | null): Tool {
	return tools.find((tool) => tool.key === key) ?? (tools[0] as Tool);
}
