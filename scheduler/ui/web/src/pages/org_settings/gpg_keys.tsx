// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useQuery } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import type { PageProps } from "../../core/router.ts";
import type { ObjectKind } from "../../objects/kinds.ts";
import { ObjectList } from "../../objects/object_list.tsx";
import { type OrganizationView, SettingsFrame, without } from "./settings_frame.tsx";

const path = "/api/registry/private/v2/gpg-keys";

// The address of a key has its key id, not the id of the object.
function kindOf(org: string, keys: readonly Resource[]): ObjectKind {
	return {
		type: "gpg-keys",
		one: "GPG key",
		many: "GPG keys",
		empty: "No GPG keys. Private providers are signed by them.",
		head: "Key",
		name: (item) => text(item, "key-id"),
		item: (id) =>
			`${path}/${segment(org)}/${segment(
				text(
					keys.find((key) => key.id === id),
					"key-id",
				),
			)}`,
		fields: [
			{ name: "namespace", label: "Organization", kind: "choice", only: "create", options: [[org, org]], initial: org, always: true },
			{ name: "ascii-armor", label: "Public key", kind: "long", only: "create", hint: "As gpg --armor --export KEY prints it." },
		],
		columns: [
			{ key: "fingerprint", head: "Fingerprint", class: "wide", cell: (item) => <bdi>{text(item, "fingerprint")}</bdi> },
			{ key: "created", head: "Added", cell: (item) => <TimeAgo time={item.attributes["created-at"]} /> },
		],
		removes: "Versions of providers can't be signed by it any more.",
		keeps: (item) => (may(item, "can-delete") ? undefined : "versions of providers are signed by it"),
	};
}

function Keys({ view }: { readonly view: OrganizationView }) {
	const page = useQuery().get("page") ?? undefined;
	const list = useDocument(address(path, { "filter[namespace]": view.org, "page[number]": page }));
	return (
		<ObjectList
			kind={kindOf(view.org, list.items)}
			list={list}
			createPath={path}
			reason={without(view, "can-create-provider", "manage providers")}
		/>
	);
}

export default function GpgKeys({ params }: PageProps) {
	return (
		<SettingsFrame params={params} section="gpg-keys" intro="Public keys, by which the private providers of the organization are signed.">
			{(view) => <Keys view={view} />}
		</SettingsFrame>
	);
}
