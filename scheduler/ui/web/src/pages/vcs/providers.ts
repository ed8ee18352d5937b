// SPDX-License-Identifier: MPL-2.0
// The kinds of VCS providers as a form offers them: their addresses, what they need to sign in, and where that is found.

import type { FieldRow, Values } from "../../objects/fields.ts";

export type Provider = {
	readonly name: string; // the API's service-provider
	readonly word: string;
	readonly http?: string; // of a hosted provider, whose addresses are known
	readonly api?: string;
	readonly apiBelow?: string; // the API's path below the address of a server
	readonly tokenWord: string;
	readonly tokenHelp: string;
	readonly oauth: boolean; // it offers OAuth in the browser
	readonly user?: string; // the label of the user, if the provider needs one
	readonly sshKey: boolean; // clones may use ssh
};

const gitea = {
	apiBelow: "/api/v1",
	tokenWord: "Access token",
	tokenHelp:
		"In the provider under Settings, Applications, with the scopes repository (read and write), issue (read and write) and user (read).",
	oauth: true,
	sshKey: true,
};
const github = {
	tokenWord: "Personal access token",
	tokenHelp:
		"In the provider under Settings, Developer settings, Personal access tokens: contents (read), commit statuses (write), pull requests (write) and webhooks (write).",
	oauth: true,
	sshKey: false,
};
const gitlab = {
	tokenWord: "Access token",
	tokenHelp:
		"In the provider under Preferences, Access tokens, with the scope api. A group or project token with the role Maintainer works, too.",
	oauth: true,
	sshKey: false,
};
const azure = {
	tokenWord: "Personal access token",
	tokenHelp:
		"In the provider under User settings, Personal access tokens: code (read and status) and pull request threads (read and write).",
};

export const providers: readonly Provider[] = [
	{ name: "gitea", word: "Gitea", ...gitea },
	{ name: "forgejo", word: "Forgejo", ...gitea },
	{ name: "github", word: "GitHub", http: "https://github.com", api: "https://api.github.com", ...github },
	{ name: "github_enterprise", word: "GitHub Enterprise", apiBelow: "/api/v3", ...github },
	{ name: "gitlab_hosted", word: "GitLab.com", http: "https://gitlab.com", api: "https://gitlab.com/api/v4", ...gitlab },
	{ name: "gitlab_community_edition", word: "GitLab Community Edition", apiBelow: "/api/v4", ...gitlab },
	{ name: "gitlab_enterprise_edition", word: "GitLab Enterprise Edition", apiBelow: "/api/v4", ...gitlab },
	{
		name: "bitbucket_hosted",
		word: "Bitbucket Cloud",
		http: "https://bitbucket.org",
		api: "https://api.bitbucket.org/2.0",
		tokenWord: "Access token",
		tokenHelp:
			"In the repository, project or workspace under Settings, Access tokens: repositories (write), pull requests (write) and webhooks.",
		oauth: true,
		sshKey: false,
	},
	{
		name: "bitbucket_data_center",
		word: "Bitbucket Data Center",
		apiBelow: "",
		tokenWord: "HTTP access token",
		tokenHelp: "In the provider under Manage account, HTTP access tokens: project read and repository admin, which hooks need.",
		oauth: false,
		sshKey: true,
	},
	{
		name: "ado_services",
		word: "Azure DevOps Services",
		http: "https://dev.azure.com",
		api: "https://dev.azure.com",
		...azure,
		oauth: true,
		sshKey: false,
	},
	{ name: "ado_server", word: "Azure DevOps Server", apiBelow: "", ...azure, oauth: false, sshKey: true },
	{
		name: "git",
		word: "Git server",
		apiBelow: "",
		tokenWord: "Password or token",
		tokenHelp: "For https. Plain git has no hooks, statuses and pull requests: commits are found by asking the server every few minutes.",
		oauth: false,
		user: "User name",
		sshKey: true,
	},
];

// providerOf: undefined for a kind that this page does not know.
export function providerOf(name: string): Provider | undefined {
	return providers.find((provider) => provider.name === name);
}

const withoutSlash = (url: string) => url.trim().replace(/\/+$/, "");

// apiUrl: where the API of a server is.
export function apiUrl(provider: Provider, http: string): string {
	return provider.api ?? (http.trim() ? withoutSlash(http) + (provider.apiBelow ?? "") : "");
}

const chosen = (values: Values) => providerOf(String(values["service-provider"] ?? ""));
const byToken = (values: Values) => values.how !== "oauth";
const isServer = (values: Values) => chosen(values)?.http === undefined;

// The fields of a new connection. `how` is of the form alone.
export function fieldsOf(values: Values): readonly FieldRow[] {
	const provider = chosen(values);
	const kinds: FieldRow = {
		name: "service-provider",
		label: "Provider",
		kind: "choice",
		options: providers.map(({ name, word }) => [name, word] as const),
	};
	if (!provider) {
		return [kinds];
	}
	const rows: readonly (FieldRow | false)[] = [
		kinds,
		{ name: "name", label: "Name", kind: "text", hint: "As lists show it. Empty: the name of the provider." },
		isServer(values) && {
			name: "http-url",
			label: "Address of the server",
			kind: "url",
			hint: provider.name === "git" ? "https://, ssh:// or git://, without the repository." : "As people open it in a browser.",
		},
		isServer(values) && provider.apiBelow !== "" && { name: "api-url", label: "Address of its API", kind: "url" },
		provider.oauth && {
			name: "how",
			label: "Signs in with",
			kind: "choice",
			options: [
				["token", "A token"],
				["oauth", "An OAuth application"],
			],
		},
		provider.user !== undefined && { name: "key", label: provider.user, kind: "text" },
		byToken(values) && { name: "oauth-token-string", label: provider.tokenWord, kind: "secret", hint: provider.tokenHelp },
		!byToken(values) && {
			name: "key",
			label: "Client id",
			kind: "text",
			hint: "Of the OAuth application that you create at the provider.",
		},
		!byToken(values) && { name: "secret", label: "Client secret", kind: "secret" },
		{
			name: "organization-scoped",
			label: "All projects may use it",
			kind: "flag",
			hint: "Otherwise choose its projects on its page.",
		},
	];
	return rows.filter((row) => row !== false);
}

// valueSet: the values after a change of one. A provider brings its addresses, and a server's address that of its API.
export function valueSet(values: Values, name: string, value: Values[string]): Values {
	const next: Values = { ...values, [name]: value };
	const provider = chosen(next);
	if (name === "service-provider") {
		const http = provider?.http ?? "";
		return { ...next, "http-url": http, "api-url": provider ? apiUrl(provider, http) : "", how: "token" };
	}
	const before = provider ? apiUrl(provider, String(values["http-url"] ?? "")) : "";
	const followed = String(values["api-url"] ?? "") === before;
	return name === "http-url" && provider && followed ? { ...next, "api-url": apiUrl(provider, String(value)) } : next;
}

export const firstValues: Values = { "service-provider": "", "organization-scoped": true, how: "token" };

// bodyOf: the attributes of a new connection. Empty texts are left out.
export function bodyOf(values: Values): Record<string, unknown> {
	const provider = chosen(values);
	const http = withoutSlash(String(values["http-url"] ?? ""));
	const sent: Record<string, unknown> = { "http-url": http, "api-url": withoutSlash(String(values["api-url"] ?? "")) };
	if (provider && !sent["api-url"]) {
		sent["api-url"] = apiUrl(provider, http);
	}
	for (const { name } of fieldsOf(values)) {
		const value = values[name];
		if (name !== "how" && !(name in sent) && value !== undefined && value !== "") {
			sent[name] = value;
		}
	}
	return sent;
}
