// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, text } from "../../core/resource.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { mayManage, needsAdmin } from "./settings_frame.tsx";

// The key that terraform uses for modules from private Git repositories.
export function SshKey({ view }: { readonly view: WorkspaceView }) {
	const keys = useDocument(address(`/organizations/${segment(view.org)}/ssh-keys`, { "page[size]": 100 }));
	const current = linkOf(view.workspace, "ssh-key")?.id ?? "";
	const [chosen, setChosen] = useState<string | undefined>();
	const [error, setError] = useState<ApiError | undefined>();
	const value = chosen ?? current;
	const save = async () => {
		try {
			setError(undefined);
			const body = { data: { type: "workspaces", attributes: { id: value || null } } };
			await change("PATCH", address(`/workspaces/${segment(view.workspace.id)}/relationships/ssh-key`), body);
			announce("The SSH key is saved");
			setChosen(undefined);
			await view.reload();
		} catch (failure) {
			setError(errorOf(failure));
		}
	};
	const options = keys.items.map((key) => [key.id, text(key, "name")] as const);
	return (
		<>
			<h3>SSH key</h3>
			<fieldset class="bare" disabled={!mayManage(view)}>
				<SelectField
					label="SSH key for modules"
					hint="Terraform reads modules of private Git repositories with it. The organization's settings have the keys."
					options={[["", "None"], ...options]}
					error={error}
					pointer="/data/attributes/id"
					value={value}
					onValue={setChosen}
				/>
			</fieldset>
			{error && !error.at("/data/attributes/id") && (
				<p class="field-error" role="alert">
					{error.message}
				</p>
			)}
			<Button reason={mayManage(view) ? (value === current ? "nothing has changed" : undefined) : needsAdmin} onPress={save}>
				Save SSH key
			</Button>
		</>
	);
}
