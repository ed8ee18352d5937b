// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { announce } from "../../components/live_region.tsx";
import { Content } from "../../components/states.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useDocument, useLive } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { type PageProps, pathTo } from "../../core/router.ts";
import { store } from "../../core/store.ts";
import { Frame, type WorkspaceView } from "../workspace/frame.tsx";
import { type Category, ofCategory, variableRows } from "./effective.ts";
import { VariableDialog } from "./variable_dialog.tsx";
import { emptyForm } from "./variable_form.ts";
import { VariableTable } from "./variable_table.tsx";

export default function Variables({ params }: PageProps) {
	return (
		<Frame
			params={params}
			page="variables"
			needs={{ right: "can-read-variable", note: "You need read access to the variables of this workspace." }}
		>
			{(view) => <VariableLists view={view} />}
		</Frame>
	);
}

// The variables of the workspace, of its sets, and those that a run gets.
function useVariables(view: WorkspaceView) {
	const path = `/workspaces/${segment(view.workspace.id)}`;
	const own = useDocument(address(`${path}/vars`));
	const sets = useDocument(address(`${path}/varsets`, { include: "vars", "page[size]": 100 }));
	const effective = useDocument(address(`${path}/all-vars`));
	const documents = [own, sets, effective];
	const reload = () => Promise.all(documents.map((document) => document.reload()));
	useLive([`workspace:${view.workspace.id}`], () => void reload());
	const shown = documents.find((document) => document.error) ?? documents.find((document) => document.loading) ?? own;
	const rows = variableRows(own.items, sets.items, effective.items, (link) => store.get(link));
	return { shown, rows, reload, path: address(`${path}/vars`) };
}

const needsWrite = "you need write access to the variables of this workspace";

type Asked = { readonly kind: "edit" | "delete"; readonly variable: Resource } | { readonly kind: "add"; readonly category: Category };

function VariableLists({ view }: { readonly view: WorkspaceView }) {
	const { shown, rows, reload, path } = useVariables(view);
	const [asked, setAsked] = useState<Asked | undefined>();
	const close = () => setAsked(undefined);
	const reason = may(view.workspace, "can-update-variable") ? undefined : needsWrite;
	const part = (category: Category, title: string, empty: string) => {
		const shownRows = ofCategory(rows, category);
		return (
			<section class="page-part">
				<div class="list-head">
					<h2>{title}</h2>
					<Button reason={reason} label={`Add variable (${title})`} onPress={() => setAsked({ kind: "add", category })}>
						Add variable
					</Button>
				</div>
				{shownRows.length === 0 ? (
					<p class="muted">{empty}</p>
				) : (
					<VariableTable
						org={view.org}
						caption={title}
						rows={shownRows}
						reason={reason}
						onEdit={(variable) => setAsked({ kind: "edit", variable })}
						onDelete={(variable) => setAsked({ kind: "delete", variable })}
					/>
				)}
			</section>
		);
	};
	return (
		<>
			<p>
				A run takes its variables when it is queued: later changes affect later runs only.{" "}
				<a href={pathTo("/app/:org/settings/variable-sets", { org: view.org })}>Variable sets</a> add variables to many workspaces. The
				workspace's own value wins, unless a set has priority.
			</p>
			<Content of={shown}>
				{() => (
					<>
						{part("terraform", "Terraform variables", "No terraform variables. They are the values of variable blocks.")}
						{part("env", "Environment variables", "No environment variables. Providers often read their credentials from them.")}
					</>
				)}
			</Content>
			{asked?.kind === "delete" && <DeleteDialog path={path} variable={asked.variable} onSaved={reload} onClose={close} />}
			{asked && asked.kind !== "delete" && (
				<VariableDialog
					path={path}
					variable={asked.kind === "edit" ? asked.variable : undefined}
					start={emptyForm(asked.kind === "add" ? asked.category : "terraform")}
					onSaved={reload}
					onClose={close}
				/>
			)}
		</>
	);
}

type DeleteProps = {
	readonly path: string;
	readonly variable: Resource;
	readonly onSaved: () => Promise<unknown>;
	readonly onClose: () => void;
};

function DeleteDialog({ path, variable, onSaved, onClose }: DeleteProps) {
	const remove = async () => {
		await change("DELETE", `${path}/${segment(variable.id)}`);
		announce("The variable is deleted");
		await onSaved();
	};
	return (
		<Dialog title={`Delete ${text(variable, "key")}`} confirm="Delete variable" danger onConfirm={remove} onClose={onClose}>
			<p>Later runs do not get it. A value that nothing else has is lost.</p>
		</Dialog>
	);
}
