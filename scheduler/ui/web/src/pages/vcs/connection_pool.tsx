// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { linkOf, type Resource, text } from "../../core/resource.ts";
import type { OrganizationView } from "../org_settings/settings_frame.tsx";

// PoolWords: the relationship of one of the connection's agent pools, and the texts of its field.
type PoolWords = { readonly relation: string; readonly label: string; readonly hint: string; readonly none: string; readonly save: string };

const reading: PoolWords = {
	relation: "agent-pool",
	label: "Agent pool that reads the repositories",
	hint: "For a provider that only workers of this pool reach. A notifier must reach the provider's API, too. Otherwise there are no commit statuses.",
	none: "The shared pool",
	save: "Save pool",
};

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
			<ConnectionPool {...props} words={reading} />
			<ConnectionPool {...props} words={ofForks} />
		</>
	);
}

function ConnectionPool({ view, connection, reason, words }: Props & { readonly words: PoolWords }) {
	const pools = useDocument(address(`${view.path}/agent-pools`, { "page[size]": 100 }));
	const pointer = `/data/relationships/${words.relation}`;
	const current = linkOf(connection, words.relation)?.id ?? "";
	const [chosen, setChosen] = useState<string | undefined>();
	const [error, setError] = useState<ApiError | undefined>();
	const value = chosen ?? current;
	const save = async () => {
		try {
			setError(undefined);
			const data = value ? { type: "agent-pools", id: value } : null;
			await change("PATCH", address(pathOf(connection)), {
				data: { type: connection.type, relationships: { [words.relation]: { data } } },
			});
			announce("The agent pool is saved");
			setChosen(undefined);
		} catch (failure) {
			setError(errorOf(failure));
		}
	};
	return (
		<>
			<fieldset class="bare" disabled={reason !== undefined}>
				<SelectField
					label={words.label}
					hint={words.hint}
					options={[["", words.none], ...pools.items.map((pool) => [pool.id, text(pool, "name")] as const)]}
					error={error}
					pointer={pointer}
					value={value}
					onValue={setChosen}
				/>
			</fieldset>
			{error && !error.at(pointer) && (
				<p class="field-error" role="alert">
					{error.message}
				</p>
			)}
			<Button reason={reason ?? (value === current ? "nothing has changed" : undefined)} onPress={save}>
				{words.save}
			</Button>
		</>
	);
}
