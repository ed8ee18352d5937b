// SPDX-License-Identifier: MPL-2.0
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Problems } from "../../components/error_panel.tsx";
import { TextField } from "../../components/field.tsx";
import { announce } from "../../components/live_region.tsx";
import { TimeAgo } from "../../components/time_ago.tsx";
import { address, change, segment } from "../../core/api.ts";
import { useAttempt } from "../../core/hooks.ts";
import { may, type Resource, text } from "../../core/resource.ts";
import { store } from "../../core/store.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import type { RunView } from "./view.ts";

function Comment({ comment }: { readonly comment: Resource }) {
	return (
		<li class="comment">
			<p>
				<strong>{text(store.one(comment, "user"), "username") || "somebody"}</strong>{" "}
				<span class="muted">
					<TimeAgo time={comment.attributes["created-at"]} />
				</span>
			</p>
			<Markdown text={text(comment, "body")} below={2} />
		</li>
	);
}

function NewComment({ view }: { readonly view: RunView }) {
	const [body, setBody] = useState("");
	const { error, attempt } = useAttempt();
	const send = () =>
		attempt(async () => {
			await change("POST", address(`/runs/${segment(view.run.id)}/comments`), { data: { type: "comments", attributes: { body } } });
			setBody("");
			announce("The comment is added");
			await view.reload();
		});
	const pointer = "/data/attributes/body";
	return (
		<>
			<TextField
				label="New comment"
				hint="You can use Markdown."
				lines={3}
				value={body}
				onValue={setBody}
				error={error}
				pointer={pointer}
			/>
			<Problems of={error} fields={[pointer]} />
			<Button reason={body.trim() ? undefined : "the comment is empty"} onPress={send}>
				Add comment
			</Button>
		</>
	);
}

export function Comments({ view }: { readonly view: RunView }) {
	const comments = store.many(view.run, "comments");
	return (
		<section class="comments" aria-labelledby="comments">
			<h2 id="comments">Comments</h2>
			{comments.length === 0 && <p class="muted">No comments.</p>}
			<ul class="plain-list">
				{comments.map((comment) => (
					<Comment key={comment.id} comment={comment} />
				))}
			</ul>
			{may(view.run, "can-comment") && !view.reader && <NewComment view={view} />}
		</section>
	);
}
