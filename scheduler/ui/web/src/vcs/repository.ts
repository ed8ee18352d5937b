// SPDX-License-Identifier: MPL-2.0
// The repository that a workspace or a policy set takes its files from: the API's vcs-repo.

import { object, type Resource, textIn } from "../core/resource.ts";

export function repositoryOf(user: Resource | undefined) {
	const values = object(user, "vcs-repo");
	const textAt = (name: string) => textIn(values, name);
	return {
		identifier: textAt("identifier"), // "": none is connected
		branch: textAt("branch"), // "": the default branch
		tags: textAt("tags-regex"), // a regular expression; "": branches start runs
		connection: textAt("oauth-token-id") || textAt("github-app-installation-id"),
		id: textAt("repository-id"),
		submodules: values["ingress-submodules"] === true,
		href: textAt("repository-http-url"), // of the provider
	};
}
