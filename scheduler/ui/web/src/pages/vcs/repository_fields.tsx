// SPDX-License-Identifier: MPL-2.0
// The fields of a repository: its connection, and its identifier with suggestions of the provider.

import { address, segment } from "../../core/api.ts";
import { useDocument, useLater } from "../../core/hooks.ts";
import { flag, linkOf, linksOf, type Resource, text } from "../../core/resource.ts";
import { pathTo } from "../../core/router.ts";
import type { FieldRow } from "../../objects/fields.ts";
import type { WorkspaceView } from "../workspace/frame.tsx";
import { useInstallations } from "./installations.tsx";
import { type RepositoryValues, triggers } from "./repository_form.ts";
import { connectionName, tokenOf } from "./token_state.tsx";

function isFor(connection: Resource, project: string | undefined): boolean {
	return flag(connection, "organization-scoped") || linksOf(connection, "projects").some((link) => link.id === project);
}

// The connections that have a token and may be used in the project, and the organization's installations of the GitHub App.
// project: of the workspace; none: the connection must be for the whole organization.
function useConnectionField(org: string, project: string | undefined, value: string): FieldRow {
	const of = useDocument(address(`/organizations/${segment(org)}/oauth-clients`, { include: "oauth_tokens" }));
	const { items: installations } = useInstallations(org);
	const connections = of.items.flatMap((connection) => {
		const token = tokenOf(connection);
		return token && (isFor(connection, project) || token.id === value) ? [[token.id, connectionName(connection)] as const] : [];
	});
	const accounts = installations.map((item) => [item.id, `GitHub App: ${text(item, "name")}`] as const);
	const options = [...connections, ...accounts];
	const known = !value || options.some(([id]) => id === value);
	return {
		name: "connection",
		label: "Connection",
		kind: "choice",
		pointer: "vcs-repo/oauth-token-id",
		hint: (
			<>
				{of.asOf > 0 && options.length === 0 && "The organization has no connection that may be used here. "}
				<a href={pathTo("/app/:org/settings/vcs-connections", { org })}>VCS connections</a>
			</>
		),
		options: [["", "Choose a connection"], ...options, ...(known ? [] : [[value, value] as const])],
	};
}

// Suggestions of the provider, or an identifier that is typed. A page that is only read asks the provider nothing.
function useIdentifierField(connection: string, value: string, stored: string): FieldRow {
	const search = useLater(value);
	const owner = connection.startsWith("ot-") ? "/oauth-tokens" : "/github-app/installation";
	const path = `${owner}/${segment(connection)}/repositories`;
	const found = useDocument(connection && value !== stored ? address(path, { "search[name]": search, "page[size]": 50 }) : undefined);
	return {
		name: "identifier",
		label: "Repository",
		kind: "text",
		pointer: "vcs-repo/identifier",
		longest: 512,
		suggestions: found.items.map((item) => text(item, "identifier")).filter(Boolean),
		hint: found.error
			? `The provider's list is not available (${found.error.message}). Type the identifier.`
			: "Type to search, or enter it as the provider writes it, such as org/repository.",
	};
}

type Chosen = { readonly connection: string; readonly identifier: string };

// useSourceFields: `stored` is the identifier that the server has.
export function useSourceFields(org: string, project: string | undefined, chosen: Chosen, stored: string): readonly FieldRow[] {
	const connection = useConnectionField(org, project, chosen.connection);
	const identifier = useIdentifierField(chosen.connection, chosen.identifier, stored);
	const hint = "Empty: the default branch of the repository.";
	return [connection, identifier, { name: "branch", label: "Branch", kind: "text", pointer: "vcs-repo/branch", hint }];
}

const isTrigger = (trigger: string) => (values: Readonly<Record<string, unknown>>) => values.trigger === trigger;
const isSpeculative = (values: Readonly<Record<string, unknown>>) => values.speculative === true;

export function useRepositoryFields(view: WorkspaceView, values: RepositoryValues, stored: string): readonly FieldRow[] {
	const folder = text(view.workspace, "working-directory");
	return [
		...useSourceFields(view.org, linkOf(view.workspace, "project")?.id, values, stored),
		{ name: "trigger", label: "Start runs for", kind: "choice", options: triggers },
		{
			name: "folders",
			label: "Other folders",
			kind: "list",
			pointer: "trigger-prefixes",
			hint: folder ? `One on each line, beside the working directory ${folder}.` : "One on each line. Without any, each push starts a run.",
			shown: isTrigger("folders"),
		},
		{
			name: "patterns",
			label: "Patterns",
			kind: "list",
			pointer: "trigger-patterns",
			hint: "One on each line, from the root of the repository: * within a folder, ** any folders, ? one character. Such as modules/**/*.tf.",
			shown: isTrigger("patterns"),
		},
		{
			name: "tags",
			label: "Tags",
			kind: "text",
			pointer: "vcs-repo/tags-regex",
			hint: "A regular expression, such as ^v\\d+\\.\\d+\\.\\d+$. Pushes to branches start no runs.",
			shown: isTrigger("tags"),
		},
		{
			name: "firstRun",
			label: "Queue runs from the start",
			kind: "flag",
			hint: "Without it, commits start runs only after a user has queued the first one.",
		},
		{ name: "submodules", label: "Fetch submodules", kind: "flag", hint: "Those at other hosts need the SSH key of the connection." },
		{ name: "newestOnly", label: "Newest commit only", kind: "flag", hint: "A push discards pending runs of older commits." },
		{
			name: "speculative",
			label: "Automatic speculative plans",
			kind: "flag",
			hint: "Pull requests to the branch are planned, and never applied.",
		},
		{ name: "skipDrafts", label: "Skip drafts", kind: "flag", hint: "Pull requests that are drafts start no plans.", shown: isSpeculative },
		{
			name: "forkPlans",
			label: "Plan pull requests of forks",
			kind: "flag",
			hint: "Each new head needs an approval. Such plans get no sensitive variables and no state access, and need an agent pool of their own.",
			shown: isSpeculative,
		},
	];
}
