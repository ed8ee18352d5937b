// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { address } from "../core/api.ts";
import { partLoad } from "../core/part.ts";
import type { Resource } from "../core/resource.ts";
import { navigate } from "../core/router.ts";
import type { FormDialog, FormKind } from "./object_dialog.tsx";

type Props = {
	readonly kind: FormKind;
	readonly path: string;
	readonly intro?: string;
	readonly primary?: boolean;
	readonly reason?: string | undefined; // why nothing can be created
	readonly page: (made: Resource) => string; // of the new object
};

// A button for a new object. The dialog loads when it is opened, and leads to the page of the object.
export function NewObject({ kind, path, intro = "", primary = false, reason, page }: Props) {
	const [Form, setForm] = useState<typeof FormDialog | undefined>();
	const open = async () => {
		const part = await partLoad(() => import("./object_dialog.tsx"));
		setForm(() => part.FormDialog);
	};
	return (
		<>
			<Button kind={primary ? "primary" : "plain"} reason={reason} onPress={open}>
				{kind.add ?? `New ${kind.one}`}
			</Button>
			{Form && (
				<Form
					kind={kind}
					url={address(path)}
					intro={intro}
					onDone={(made) => made && navigate(page(made))}
					onClose={() => setForm(undefined)}
				/>
			)}
		</>
	);
}
