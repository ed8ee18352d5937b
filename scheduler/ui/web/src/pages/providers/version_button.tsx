// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { partLoad } from "../../core/part.ts";
import { type Resource, text } from "../../core/resource.ts";
import type { VersionDialog } from "./version_dialog.tsx";

export type Place = { readonly org: string; readonly provider: Resource; readonly path: string; readonly reload: () => unknown };

type Props = {
	readonly place: Place;
	readonly version?: Resource; // to which files are added; none: a new one
	readonly reason: string | undefined;
};

// A button for the dialog of a version, which loads when it is opened.
export function VersionButton({ place: { org, provider, path, reload }, version, reason }: Props) {
	const [Form, setForm] = useState<typeof VersionDialog | undefined>();
	const open = async () => {
		const part = await partLoad(() => import("./version_dialog.tsx"));
		setForm(() => part.VersionDialog);
	};
	const close = () => {
		setForm(undefined);
		reload();
	};
	return (
		<>
			<Button reason={reason} {...(version && { label: `Add files to version ${text(version, "version")}` })} onPress={open}>
				{version ? "Add Files" : "New Version"}
			</Button>
			{Form && <Form org={org} provider={provider} path={path} version={version} onClose={close} />}
		</>
	);
}
