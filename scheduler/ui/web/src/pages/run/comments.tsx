// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { ProblemList } from "../../components/error_panel.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { type ApiError, errorOf } from "../../core/errors.ts";
import { may, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import type { RunView } from "./run.tsx";

export function Comments({ view }: { readonly view: RunView }) {
	const [body, setBody] = useState("");
	const [error, setError] = useState<ApiError | undefined>();
	const send = async () => {
		try {
			setError(undefined);
			await change("POST", address(`/runs/${segment(view.run.id)}/comments`), { data: { type: "comments", attributes: { body } } });
			setBody("");
			announce("The comment is added");
			await view.reload();
		} catch (failure) {
			setError(errorOf(failure));
		}
	};
	return (
		<section class="comments" aria-labelledby="comments">
			<h2 id="comments">Comments</h2>
			{store.many(view.run, "comments").map((comment) => (
				<div key={comment.id} class="comment">
					<p class="muted">
						{text(store.one(comment, "user"), "username")} <TimeAgo time={comment.attributes["created-at"]} />
					</p>
					<p class="comment-body">{text(comment, "body")}</p>
				</div>
			))}
			{error && <ProblemList problems={error.problems} message={error.message} />}
			{may(view.run, "can-comment") && (
				<>
					<TextField label="New comment" lines={2} value={body} onValue={setBody} />
					<Button reason={body.trim() ? undefined : "the comment is empty"} onPress={send}>
						Add comment
					</Button>
				</>
			)}
		</section>
	);
}
