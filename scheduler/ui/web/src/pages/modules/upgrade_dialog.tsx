// SPDX-License-Identifier: MPL-2.0
// The upgrade of a workspace to the version that its no-code module provisions now: a run that waits for a confirmation.

import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Content } from "../../components/states.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, may, type Resource, text } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { InputFields } from "./input_fields.tsx";
import { choiceOf, type Given, varPointer, varsOf } from "./no_code.ts";
import { useDescription } from "./use_description.ts";

const messagePointer = "/data/attributes/message";

// The required inputs of the new version for which the workspace has no variable.
function useNewInputs(workspace: Resource, noCode: Resource | undefined) {
	const isAble = may(workspace, "can-read-variable") && may(workspace, "can-update-variable");
	const { description } = useDescription(linkOf(noCode, "registry-module")?.id ?? "", text(noCode, "current-version"));
	const variables = useDocument(isAble ? address(`/workspaces/${segment(workspace.id)}/vars`) : undefined);
	const names = variables.items.filter((item) => text(item, "category") === "terraform").map((item) => text(item, "key"));
	const isKnown = description !== undefined && variables.asOf > 0;
	return isKnown ? description.root.inputs.filter(({ name, required }) => required && !names.includes(name)) : [];
}

export type UpgradeProps = { readonly view: WorkspaceView; readonly onClose: () => void };

export function UpgradeDialog({ view, onClose }: UpgradeProps) {
	const { org, name, workspace } = view;
	const id = linkOf(workspace, "no-code-module")?.id ?? "";
	const found = useDocument(address(`/no-code-modules/${segment(id)}`, { include: "variable_options" }));
	const noCode = found.item;
	const inputs = useNewInputs(workspace, noCode);
	const choices = store.many(noCode, "variable-options").map(choiceOf);
	const [message, setMessage] = useState("");
	const [given, setGiven] = useState<Given>(new Map());
	const [sent, setSent] = useState<readonly string[]>([]);
	const upgrade = async () => {
		const vars = varsOf(inputs, choices, given);
		setSent(vars.map(({ attributes }) => attributes.key));
		const body = { type: "workspaces", attributes: message ? { message } : {}, relationships: { vars: { data: vars } } };
		const url = address(`/no-code-modules/${segment(id)}/workspaces/${segment(workspace.id)}/upgrade`);
		const answer = await change("POST", url, { data: body });
		navigate(pathTo("/app/:org/workspaces/:ws/runs/:run", { org, ws: name, run: (answer.data as Resource).id }));
	};
	return (
		<Dialog
			title={`Upgrade ${name}`}
			confirm="Plan upgrade"
			reason={noCode ? undefined : "the module is not known yet"}
			fields={[messagePointer, ...sent.map((_, at) => varPointer(at))]}
			onConfirm={upgrade}
			onClose={onClose}
		>
			{(error) => (
				<Content of={found}>
					{() => (
						<>
							<p>
								{`A run plans version ${text(noCode, "current-version")} of the module. It waits for a confirmation before it applies, also in a workspace with auto-apply.`}
							</p>
							<p>The workspace keeps its variables. Change them on the page Variables before the upgrade.</p>
							<TextField label="Message" value={message} onValue={setMessage} error={error} pointer={messagePointer} />
							{inputs.length > 0 && (
								<section aria-labelledby="new-inputs">
									<h3 id="new-inputs">Inputs without a variable</h3>
									<p>Leave an input empty if a variable set has its value.</p>
									<InputFields inputs={inputs} choices={choices} given={given} sent={sent} error={error} onGiven={setGiven} />
								</section>
							)}
						</>
					)}
				</Content>
			)}
		</Dialog>
	);
}
