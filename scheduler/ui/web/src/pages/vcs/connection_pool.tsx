// SPDX-License-Identifier: MPL-2.0
import { address, segment } from "../../core/api.ts";
import { useDocument } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import type { FieldRow } from "../../objects/fields.ts";
import { namesOf } from "../../objects/kinds.ts";
import { SettingsForm } from "../../objects/settings_form.tsx";
import type { OrganizationView } from "../org_settings/settings_frame.tsx";

// PoolWords: the relationship of one of the connection's agent pools, and the texts of its field.
type PoolWords = { readonly relation: string; readonly label: string; readonly hint: string; readonly none: string; readonly save: string };

const reading: PoolWords = {
	relation: "agent-pool",
	label: "Agent pool that reads the repositories",
	hint: "For a provider that only workers of this pool reach. One of them must run with request forwarding, for commit statuses, comments and lists of repositories.",
	none: "The shared pool",
	save: "Save pool",
};

// The API of the site's GitHub App is the site's own, so no worker calls it.
const readingByApp: PoolWords = { ...reading, hint: "For repositories that only workers of this pool reach." };

const ofForks: PoolWords = {
	relation: "fork-agent-pool",
	label: "Agent pool for plans of forks",
	hint: "Its workers run code from outside, so let no workspace use it. Without a pool, pull requests of forks are not planned.",
	none: "None",
	save: "Save forks' pool",
};

type Props = {
	readonly view: OrganizationView;
	readonly connection: Resource; // an oauth-client, or a github-app-installation
	readonly reason: string | undefined;
};

function pathOf({ type, id }: Resource): string {
	return `/${type === "oauth-clients" ? "oauth-clients" : "github-app/installation"}/${segment(id)}`;
}

// The agent pools of a connection, which replace the shared pool.
export function ConnectionPools(props: Props) {
	return (
		<>
			<ConnectionPool {...props} words={props.connection.type === "oauth-clients" ? reading : readingByApp} />
			<ConnectionPool {...props} words={ofForks} />
		</>
	);
}

function ConnectionPool({ view, connection, reason, words }: Props & { readonly words: PoolWords }) {
	const pools = useDocument(address(`${view.path}/agent-pools`, { "page[size]": 100 }));
	const field: FieldRow = {
		name: words.relation,
		label: words.label,
		hint: words.hint,
		kind: "choice",
		relation: "agent-pools",
		options: [["", words.none], ...namesOf(pools.items)],
	};
	const item = () => pathOf(connection);
	return (
		<SettingsForm
			kind={{ type: connection.type, fields: [field], item }}
			item={connection}
			reason={reason}
			word={words.save}
			said="The agent pool is saved"
		/>
	);
}
