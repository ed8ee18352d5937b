// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { address, change, segment } from "../../core/api.ts";
import { may, type Resource } from "../../core/resource.ts";
import { navigate, pathTo } from "../../core/router.ts";

const pointers = ["/data/attributes/name", "/data/attributes/description"];

function NewProjectDialog({ org, onClose }: { readonly org: string; readonly onClose: () => void }) {
	const [name, setName] = useState("");
	const [description, setDescription] = useState("");
	const create = async () => {
		const attributes = { name, ...(description && { description }) };
		const made = await change("POST", address(`/organizations/${segment(org)}/projects`), { data: { type: "projects", attributes } });
		navigate(pathTo("/app/:org/projects/:project", { org, project: (made.data as Resource).id }));
	};
	return (
		<Dialog
			title="New project"
			confirm="Create project"
			reason={name ? undefined : "it needs a name"}
			fields={pointers}
			onConfirm={create}
			onClose={onClose}
		>
			{(error) => (
				<>
					<p>A project groups workspaces. Teams can have access to all workspaces of a project.</p>
					<TextField label="Name" value={name} maxLength={40} required onValue={setName} error={error} pointer="/data/attributes/name" />
					<TextField
						label="Description"
						value={description}
						onValue={setDescription}
						error={error}
						pointer="/data/attributes/description"
					/>
				</>
			)}
		</Dialog>
	);
}

// Without the permission to create projects it shows nothing.
export function NewProject({ org, organization }: { readonly org: string; readonly organization: Resource | undefined }) {
	const [open, setOpen] = useState(false);
	return may(organization, "can-create-project") ? (
		<>
			<Button onPress={() => setOpen(true)}>New project</Button>
			{open && <NewProjectDialog org={org} onClose={() => setOpen(false)} />}
		</>
	) : null;
}
