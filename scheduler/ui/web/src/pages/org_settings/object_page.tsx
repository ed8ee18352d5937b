// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { DialogButton } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Content } from "../../components/states.tsx";
import { address } from "../../core/api.ts";
import { type Loaded, useDocument, useQuery } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import { navigate, type PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { RemoveDialog } from "../../objects/object_dialog.tsx";
import { ObjectList } from "../../objects/object_list.tsx";
import { SettingsForm } from "../../objects/settings_form.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";

type PageParts = {
	readonly view: OrganizationView;
	readonly item: Resource;
	readonly reason: string | undefined;
	readonly onDone: () => Promise<void>; // reads the object again
};

type PagesProps = PageProps & {
	readonly kind: ObjectKind;
	readonly section: string;
	readonly intro?: string;
	readonly below: string; // the path of the list, below that of the organization
	readonly right: string; // to change the objects
	readonly what: string; // the right in words
	readonly include?: string;
	readonly fieldsOf?: Props["fieldsOf"];
	readonly children?: (parts: PageParts) => ComponentChildren; // what belongs to an object
};

// The objects of a kind in an organization, and the page of each (?id=).
export function ObjectPages({ params, section, intro, ...props }: PagesProps) {
	return (
		<SettingsFrame params={params} section={section} intro={intro}>
			{(view) => <ListOrPage view={view} {...props} />}
		</SettingsFrame>
	);
}

function ListOrPage(props: Omit<PagesProps, "params" | "section" | "intro"> & { readonly view: OrganizationView }) {
	const { view, kind, below, right, what, include = "", fieldsOf, children } = props;
	const query = useQuery();
	const id = query.get("id");
	const reason = without(view, right, what);
	const path = view.path + below;
	if (!id) {
		return (
			<ObjectList kind={kind} url={address(path, { "page[number]": query.get("page") ?? undefined })} createPath={path} reason={reason} />
		);
	}
	return (
		<ObjectPage key={id} kind={kind} id={id} include={include} reason={reason} {...(fieldsOf && { fieldsOf })}>
			{(item, of) => children?.({ view, item, reason, onDone: of.reload })}
		</ObjectPage>
	);
}

type Props = {
	readonly kind: ObjectKind;
	readonly id: string;
	readonly include?: string;
	readonly reason: string | undefined; // why it can't be changed
	readonly fieldsOf?: (item: Resource) => ObjectKind["fields"]; // if they depend on the object
	readonly children: (item: Resource, of: Loaded) => ComponentChildren;
};

// One object: its attributes, what belongs to it, and Delete.
function ObjectPage({ kind, id, include, reason, fieldsOf, children }: Props) {
	const of = useDocument(address(kind.item(id), { include }));
	const back = location.pathname;
	return (
		<>
			<p>
				<a href={back}>All {kind.many.toLowerCase()}</a>
			</p>
			<Content of={of}>
				{() =>
					of.item && (
						<>
							<h2>
								{kind.name(of.item)} <CopyId id={of.item.id} />
							</h2>
							{kind.fields.length > 0 && (
								<SettingsForm kind={fieldsOf ? { ...kind, fields: fieldsOf(of.item) } : kind} item={of.item} reason={reason} />
							)}
							{children(of.item, of)}
							<h3>{kind.remove ?? "Delete"}</h3>
							<p>{kind.removes}</p>
							<RemoveButton kind={kind} item={of.item} reason={reason} onDone={() => navigate(back)} />
						</>
					)
				}
			</Content>
		</>
	);
}

type RemoveProps = Pick<Props, "kind" | "reason"> & { readonly item: Resource; readonly onDone: () => unknown };

function RemoveButton({ kind, item, reason, onDone }: RemoveProps) {
	return (
		<DialogButton
			kind="danger"
			reason={reason}
			dialog={(close) => <RemoveDialog kind={kind} item={item} onDone={onDone} onClose={close} />}
		>
			{kind.remove ?? "Delete"} {kind.one}
		</DialogButton>
	);
}
