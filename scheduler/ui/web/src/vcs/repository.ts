// SPDX-License-Identifier: MPL-2.0
// The repository that a workspace or a policy set takes its files from: the API's vcs-repo.

import { object, type Resource, textIn } from "../core/resource.ts";

export type Repository = {
	readonly identifier: string; // "": none is connected
	readonly branch: string; // "": the default branch
	readonly tags: string; // a regular expression; "": branches start runs
	readonly connection: string; // the id of an oauth-token or of a github-app-installation
	readonly id: string; // of the vcs-repository
	readonly submodules: boolean;
	readonly href: string; // of the provider
};

export function repositoryOf(user: Resource | undefined): Repository {
	const values = object(user, "vcs-repo");
	const textAt = (name: string) => textIn(values, name);
	return {
		identifier: textAt("identifier"),
		branch: textAt("branch"),
		tags: textAt("tags-regex"),
		connection: textAt("oauth-token-id") || textAt("github-app-installation-id"),
		id: textAt("repository-id"),
		submodules: values["ingress-submodules"] === true,
		href: textAt("repository-http-url"),
	};
}
