// SPDX-License-Identifier: MPL-2.0
// What a module's page shows of no-code provisioning.

import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Fact } from "../../components/fact.tsx";
import { Content } from "../../components/states.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { type Column, PlainTable } from "../../components/table.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { partLoad } from "../../core/part.ts";
import { flag, linkOf, may, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { type Choice, choiceOf, linesOf, noCodeOf } from "./no_code.ts";

type ModuleProps = { readonly org: string; readonly module: Resource };

// The link to the form. It needs the right to create workspaces in a project of the module's organization.
export function ProvisionLink({ org, module }: ModuleProps) {
	const owner = linkOf(module, "organization")?.id ?? org;
	const isOffered = flag(module, "no-code") && noCodeOf(module) !== "";
	const projects = useDocument(isOffered ? address(`/organizations/${segment(owner)}/projects`, { "page[size]": 100 }) : undefined);
	return projects.items.some((project) => may(project, "can-deploy-no-code-modules")) ? (
		<a class="button primary" href={pathTo("/app/:org/modules/:module/provision", { org, module: module.id })}>
			Provision workspace
		</a>
	) : null;
}

const columns: readonly Column<Choice>[] = [
	{ key: "name", head: "Input", cell: ({ name }) => <bdi>{name}</bdi> },
	{ key: "values", head: "Allowed values", cell: (choice) => <code class="as-written">{linesOf(choice)}</code> },
];

function Facts({ noCode }: { readonly noCode: Resource }) {
	const pin = text(noCode, "version-pin");
	const current = text(noCode, "current-version");
	const choices = store.many(noCode, "variable-options").map(choiceOf);
	return (
		<>
			<dl class="facts">
				<Fact word="State">
					<Mark tone={flag(noCode, "enabled") ? "success" : "muted"}>{flag(noCode, "enabled") ? "Enabled" : "Disabled"}</Mark>
				</Fact>
				<Fact word="Version">{pin ? `${pin}, pinned` : "The newest"}</Fact>
				<Fact word="New workspaces get">{current || "no version, as none can be used"}</Fact>
			</dl>
			{choices.length > 0 && <PlainTable caption="Allowed values" columns={columns} rows={choices} keyOf={({ id }) => id} class="wrap" />}
		</>
	);
}

type Parts = typeof import("./no_code_dialog.tsx");
type Asked = { readonly what: "settings" | "removal"; readonly parts: Parts };

type SettingsProps = ModuleProps & { readonly reload: () => Promise<void> };

// The settings, for those who manage modules.
export function NoCodeSettings({ org, module, reload }: SettingsProps) {
	const id = noCodeOf(module);
	const settings = useDocument(id ? address(`/no-code-modules/${segment(id)}`, { include: "variable_options" }) : undefined);
	const [asked, setAsked] = useState<Asked | undefined>();
	const noCode = settings.item;
	const ask = async (what: Asked["what"]) => setAsked({ what, parts: await partLoad(() => import("./no_code_dialog.tsx")) });
	const close = () => setAsked(undefined);
	const done = async () => {
		await Promise.all([reload(), settings.reload()]);
	};
	const owner = linkOf(module, "organization")?.id ?? org;
	return (
		<section aria-labelledby="no-code">
			<h2 id="no-code">No-code provisioning</h2>
			<p>Members make workspaces from the module by a form of its inputs.</p>
			<Content of={settings}>
				{() => (
					<>
						{noCode && <Facts noCode={noCode} />}
						<div class="actions">
							<Button onPress={() => ask("settings")}>{noCode ? "Edit no-code settings" : "Enable no-code provisioning"}</Button>
							{noCode && <Button onPress={() => ask("removal")}>Delete no-code settings</Button>}
						</div>
					</>
				)}
			</Content>
			{asked?.what === "settings" && (
				<asked.parts.NoCodeDialog owner={owner} module={module} noCode={noCode} onDone={done} onClose={close} />
			)}
			{asked?.what === "removal" && noCode && <asked.parts.NoCodeRemoval noCode={noCode} onDone={reload} onClose={close} />}
		</section>
	);
}
