// SPDX-License-Identifier: MPL-2.0
import { SelectField } from "../../components/field.tsx";
import { address, segment } from "../../core/api.ts";
import type { ApiError } from "../../core/errors.ts";
import { useDocument } from "../../core/hooks.ts";
import { flag, linksOf, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import { useInstallations } from "./installations.tsx";
import { connectionName, tokenOf } from "./token_state.tsx";

type Props = {
	readonly org: string;
	readonly project?: string | undefined; // of the workspace; none: it must be for the whole organization
	readonly value: string; // the id of a token or an installation
	readonly error: ApiError | undefined;
	readonly pointer: string;
	readonly onValue: (id: string) => void;
};

function isFor(connection: Resource, project: string | undefined): boolean {
	return flag(connection, "organization-scoped") || linksOf(connection, "projects").some((link) => link.id === project);
}

// Lists the connections that have a token and may be used in the project, and the organization's installations of the GitHub App.
export function ConnectionField({ org, project, value, error, pointer, onValue }: Props) {
	const of = useDocument(address(`/organizations/${segment(org)}/oauth-clients`, { include: "oauth_tokens" }));
	const { items: installations } = useInstallations(org);
	const connections = of.items.flatMap((connection) => {
		const token = tokenOf(connection);
		return token && (isFor(connection, project) || token.id === value) ? [[token.id, connectionName(connection)] as const] : [];
	});
	const accounts = installations.map((item) => [item.id, `GitHub App: ${text(item, "name")}`] as const);
	const options = [...connections, ...accounts];
	const known = !value || options.some(([id]) => id === value);
	return (
		<SelectField
			label="Connection"
			hint={
				<>
					{of.asOf > 0 && options.length === 0 && "The organization has no connection that may be used here. "}
					<a href={pathTo("/app/:org/settings/vcs-connections", { org })}>VCS connections</a>
				</>
			}
			options={[["", "Choose a connection"], ...options, ...(known ? [] : [[value, value] as const])]}
			error={error}
			pointer={pointer}
			value={value}
			onValue={onValue}
		/>
	);
}
