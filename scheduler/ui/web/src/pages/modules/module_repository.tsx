// SPDX-License-Identifier: MPL-2.0
import { TextLink } from "../../components/safe_link.tsx";
import { address, segment } from "../../core/api.ts";
import { useDocument, useInterval } from "../../core/hooks.ts";
import type { Resource } from "../../core/resource.ts";
import { repositoryOf } from "../../vcs/repository.ts";
import { RepositoryLooks } from "../vcs/repository_state.tsx";
import { isChanging, pollMs } from "./module_words.ts";

// The repository of a module: whether it was found, and why the last look at it failed.
export function ModuleRepository({ module }: { readonly module: Resource }) {
	const { id, identifier, href } = repositoryOf(module);
	const repository = useDocument(id ? address(`/vcs-repositories/${segment(id)}`) : undefined);
	useInterval(pollMs, () => isChanging(module) && repository.reload());
	return id ? (
		<section aria-labelledby="repository">
			<h2 id="repository">Repository</h2>
			<p>
				<TextLink href={href}>
					<bdi>{identifier}</bdi>
				</TextLink>
			</p>
			{repository.item && <RepositoryLooks repository={repository.item} />}
		</section>
	) : null;
}
