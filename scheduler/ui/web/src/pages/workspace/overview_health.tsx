// SPDX-License-Identifier: MPL-2.0
import { Fact } from "../../components/fact.tsx";
import { Mark } from "../../components/status_mark.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { flag } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { checksText, driftText, outcomeOf } from "../workspace_health/health_words.ts";
import type { WorkspaceView } from "./frame.tsx";
import { framePath } from "./frame_links.ts";

// What the last assessment found, in short.
export function OverviewHealth({ view }: { readonly view: WorkspaceView }) {
	const result = store.one(view.workspace, "current-assessment-result");
	const outcome = result && outcomeOf(result);
	return (
		<section aria-labelledby="health">
			<h2 id="health">
				<a href={framePath("health", view.org, view.name)}>Health</a>
			</h2>
			{result && outcome ? (
				<dl class="numbers">
					<Fact word="Last assessment">
						<Mark tone={outcome.tone}>{outcome.word}</Mark> <TimeAgo time={result.attributes["created-at"]} />
					</Fact>
					{flag(result, "succeeded") && <Fact word="Drift">{driftText(result)}</Fact>}
					{flag(result, "succeeded") && <Fact word="Checks">{checksText(result)}</Fact>}
				</dl>
			) : (
				<p class="muted">Not assessed since the last change.</p>
			)}
		</section>
	);
}
