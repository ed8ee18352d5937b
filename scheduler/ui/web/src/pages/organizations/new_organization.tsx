// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { address, change } from "../../core/api.ts";
import { navigate, pathTo } from "../../core/router.ts";

const pointers = ["/data/attributes/name", "/data/attributes/email"];

function NewOrganizationDialog({ onClose }: { readonly onClose: () => void }) {
	const [name, setName] = useState("");
	const [email, setEmail] = useState("");
	const create = async () => {
		await change("POST", address("/organizations"), { data: { type: "organizations", attributes: { name, email } } });
		navigate(pathTo("/app/:org/workspaces", { org: name }));
	};
	const missing = name && email ? undefined : "it needs a name and an e-mail address";
	return (
		<Dialog title="New organization" confirm="Create organization" reason={missing} fields={pointers} onConfirm={create} onClose={onClose}>
			{(error) => (
				<>
					<TextField
						label="Name"
						hint="Letters, digits, - and _. It is a part of all addresses, and can't be used twice."
						value={name}
						maxLength={40}
						required
						onValue={setName}
						error={error}
						pointer="/data/attributes/name"
					/>
					<TextField
						label="E-mail"
						hint="Where the organization's owners can be reached."
						type="email"
						value={email}
						required
						onValue={setEmail}
						error={error}
						pointer="/data/attributes/email"
					/>
				</>
			)}
		</Dialog>
	);
}

export function NewOrganization() {
	const [open, setOpen] = useState(false);
	return (
		<>
			<Button onPress={() => setOpen(true)}>New organization</Button>
			{open && <NewOrganizationDialog onClose={() => setOpen(false)} />}
		</>
	);
}
