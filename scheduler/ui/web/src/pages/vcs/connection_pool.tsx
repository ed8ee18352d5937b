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

const pointer = "/data/relationships/agent-pool";

type Props = { readonly view: OrganizationView; readonly connection: Resource; readonly reason: string | undefined };

// The pool whose workers reach the provider, if those of the shared pool do not.
export function ConnectionPool({ view, connection, reason }: Props) {
	const pools = useDocument(address(`${view.path}/agent-pools`, { "page[size]": 100 }));
	const current = linkOf(connection, "agent-pool")?.id ?? "";
	const [chosen, setChosen] = useState<string | undefined>();
	const [error, setError] = useState<ApiError | undefined>();
	const value = chosen ?? current;
	const save = async () => {
		try {
			setError(undefined);
			const data = value ? { type: "agent-pools", id: value } : null;
			await change("PATCH", address(`/oauth-clients/${segment(connection.id)}`), {
				data: { type: "oauth-clients", relationships: { "agent-pool": { data } } },
			});
			announce("The agent pool is saved");
			setChosen(undefined);
		} catch (failure) {
			setError(errorOf(failure));
		}
	};
	return (
		<>
			<h3>Workers</h3>
			<fieldset class="bare" disabled={reason !== undefined}>
				<SelectField
					label="Agent pool that reads the repositories"
					hint="For a provider that only workers of this pool reach. Its API must be reachable by a notifier, too; without, there are no commit statuses."
					options={[["", "The shared pool"], ...pools.items.map((pool) => [pool.id, text(pool, "name")] as const)]}
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
				Save pool
			</Button>
		</>
	);
}
