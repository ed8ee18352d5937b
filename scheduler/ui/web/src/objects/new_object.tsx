// SPDX-License-Identifier: MPL-2.0
import { DialogButton } from "../components/button.tsx";
import { address } from "../core/api.ts";
import type { Resource } from "../core/resource.ts";
import { navigate } from "../core/router.ts";
import { FormDialog, type FormKind } from "./object_dialog.tsx";

type Props = {
	readonly kind: FormKind;
	readonly path: string;
	readonly intro?: string;
	readonly primary?: boolean;
	readonly reason?: string | undefined; // why nothing can be created
	readonly page: (made: Resource) => string; // of the new object
};

// A button for a new object. The dialog leads to the page of the object.
export function NewObject({ kind, path, intro = "", primary = false, reason, page }: Props) {
	return (
		<DialogButton
			kind={primary ? "primary" : "plain"}
			reason={reason}
			dialog={(close) => (
				<FormDialog kind={kind} url={address(path)} intro={intro} onDone={(made) => made && navigate(page(made))} onClose={close} />
			)}
		>
			New {kind.one}
		</DialogButton>
	);
}
