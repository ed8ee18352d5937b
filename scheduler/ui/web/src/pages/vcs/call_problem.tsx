// SPDX-License-Identifier: MPL-2.0
import { TimeAgo } from "../../components/time_ago.tsx";
import { type Resource, text } from "../../core/resource.ts";

// Shows why calls to the provider fail or wait. `of`: a connection, or an installation of the GitHub App.
export function CallProblem({ of }: { readonly of: Resource }) {
	const error = text(of, "call-error");
	const until = of.attributes["calls-blocked-until"];
	return (
		<>
			{error && (
				<p class="note wait">
					The last call to the provider failed: <bdi>{error}</bdi>
				</p>
			)}
			{typeof until === "string" && (
				<p class="note wait">
					The provider requested a pause. Calls continue <TimeAgo time={until} />.
				</p>
			)}
		</>
	);
}
