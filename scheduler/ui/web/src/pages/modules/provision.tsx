// SPDX-License-Identifier: MPL-2.0
// A workspace from a no-code module: a form of the module's inputs.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt, useDocument } from "../../core/hooks.ts";
import { flag, linkOf, may, type Resource, text } from "../../core/resource.ts";
import { navigate, type PageProps, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { useTitle } from "../../core/title.ts";
import { attributesOf, type FieldRow, relationshipsOf, valuesOf } from "../../objects/fields.ts";
import { namesOf } from "../../objects/kinds.ts";
import { ObjectFields, pointersOf } from "../../objects/object_fields.tsx";
import { useTyped } from "../../objects/use_typed.ts";
import { Breadcrumb } from "../../shell/breadcrumb.tsx";
import type { Input } from "./description.ts";
import { InputFields } from "./input_fields.tsx";
import { choiceOf, type Given, isGiven, noCodeOf, varPointer, varsOf } from "./no_code.ts";
import { useDescription } from "./use_description.ts";

// projects: those in which the user may make workspaces.
const fieldsOf = (projects: readonly Resource[], project: string): readonly FieldRow[] => [
	{ name: "name", label: "Name", kind: "text", longest: 90, hint: "Letters, digits, - and _." },
	{
		name: "project",
		label: "Project",
		kind: "choice",
		relation: "projects",
		options: namesOf(projects),
		initial: (projects.find(({ id }) => id === project) ?? projects[0])?.id ?? "",
	},
	{ name: "description", label: "Description", kind: "text" },
	{ name: "auto-apply", label: "Auto-apply", kind: "flag", hint: "Plans that succeed are applied without confirmation." },
];

function missing(name: unknown, inputs: readonly Input[], given: Given): string | undefined {
	const blank = inputs.find((input) => input.required && !isGiven(given, input));
	if (!name) {
		return "the workspace needs a name";
	}
	return blank && `${blank.name} needs a value`;
}

function Inputs({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
	const id = title.toLowerCase().replace(" ", "-");
	return (
		<section aria-labelledby={id}>
			<h2 id={id}>{title}</h2>
			{children}
		</section>
	);
}

type FormProps = {
	readonly owner: string; // the module's organization
	readonly noCode: Resource;
	readonly inputs: readonly Input[];
	readonly fields: readonly FieldRow[];
};

function Form({ owner, noCode, inputs, fields }: FormProps) {
	const [typed, onValue] = useTyped();
	const [given, setGiven] = useState<Given>(new Map());
	const [sent, setSent] = useState<readonly string[]>([]);
	const { error, attempt } = useAttempt();
	const values = { ...valuesOf(fields, undefined), ...typed };
	const choices = store.many(noCode, "variable-options").map(choiceOf);
	const reason = missing(values.name, inputs, given);
	const create = () =>
		attempt(async () => {
			const vars = varsOf(inputs, choices, given);
			setSent(vars.map(({ attributes }) => attributes.key));
			const answer = await change("POST", address(`/no-code-modules/${segment(noCode.id)}/workspaces`), {
				data: {
					type: "workspaces",
					attributes: attributesOf(fields, values, undefined),
					relationships: { ...relationshipsOf(fields, values, undefined), vars: { data: vars } },
				},
			});
			announce("Workspace created");
			navigate(pathTo("/app/:org/workspaces/:ws", { org: owner, ws: text(answer.data as Resource, "name") }));
		});
	const shown = { choices, given, sent, error, onGiven: setGiven, strict: true };
	const [required, optional] = [inputs.filter((input) => input.required), inputs.filter((input) => !input.required)];
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				void (reason || create());
			}}
		>
			<ObjectFields fields={fields} values={values} error={error} onValue={onValue} />
			{required.length > 0 && (
				<Inputs title="Required inputs">
					<InputFields inputs={required} {...shown} />
				</Inputs>
			)}
			{optional.length > 0 && (
				<Inputs title="Optional inputs">
					<p>An input without a value has the module's default.</p>
					<InputFields inputs={optional} {...shown} />
				</Inputs>
			)}
			<Problems of={error} fields={[...pointersOf(fields), ...sent.map((_, at) => varPointer(at))]} />
			<div class="actions">
				<Button kind="primary" reason={reason} onPress={create}>
					Create workspace
				</Button>
			</div>
		</form>
	);
}

type PlaceProps = { readonly module: Resource; readonly owner: string; readonly noCode: Resource };

function Provisioning({ module, owner, noCode }: PlaceProps) {
	const path = `/organizations/${segment(owner)}`;
	const organization = useDocument(address(path));
	const projects = useDocument(address(`${path}/projects`, { "page[size]": 100 }));
	const version = text(noCode, "current-version");
	const { found, description } = useDescription(module.id, version);
	const allowed = projects.items.filter((project) => may(project, "can-deploy-no-code-modules"));
	const fields = fieldsOf(allowed, linkOf(organization.item, "default-project")?.id ?? "");
	if (!version) {
		return <p>The module has no version that can be used.</p>;
	}
	return (
		<Content of={projects}>
			{() =>
				allowed.length === 0 ? (
					<p>You may not create workspaces in any project.</p>
				) : (
					<Content of={organization}>
						{() => (
							<Content of={found}>
								{() => (
									<>
										<p>{`The workspace gets version ${version} of the module, and a run that plans it.`}</p>
										{description ? (
											<Form owner={owner} noCode={noCode} inputs={description.root.inputs} fields={fields} />
										) : (
											<p>The inputs of this version are not known: it has not been inspected yet, or can't be described.</p>
										)}
									</>
								)}
							</Content>
						)}
					</Content>
				)
			}
		</Content>
	);
}

export default function Provision({ params }: PageProps) {
	const { org = "", module: id = "" } = params;
	const found = useDocument(address(`/registry-modules/${segment(id)}`));
	const module = found.item;
	const name = text(module, "name");
	const noCodeId = noCodeOf(module);
	const settings = useDocument(noCodeId ? address(`/no-code-modules/${segment(noCodeId)}`, { include: "variable_options" }) : undefined);
	const noCode = settings.item;
	useTitle(["Provision workspace", name || "Module", org]);
	return (
		<>
			<Breadcrumb
				crumbs={[
					{ word: org, href: pathTo("/app/:org/workspaces", { org }) },
					{ word: "Modules", href: pathTo("/app/:org/modules", { org }) },
					{ word: name || "Module", href: pathTo("/app/:org/modules/:module", { org, module: id }) },
					{ word: "Provision workspace" },
				]}
			/>
			<h1 tabIndex={-1}>Provision workspace</h1>
			<Content of={found}>
				{() => (
					<Content of={settings}>
						{() =>
							module && noCode && flag(noCode, "enabled") ? (
								<Provisioning module={module} owner={linkOf(module, "organization")?.id ?? org} noCode={noCode} />
							) : (
								<p>No-code provisioning is not enabled for this module.</p>
							)
						}
					</Content>
				)}
			</Content>
		</>
	);
}
