/* SPDX-License-Identifier: MPL-2.0 */
/*
 * GitLab. Lists of changed files are not used, because a payload does not show whether the push was forced. GitLab
 * sends "update" for each change of a merge request. One with `oldrev` brings a new head. One that changes the
 * destination or ends the draft counts as opened. All others are ignored.
 */
#include "scheduler/vcs/payload_reader.h"

static const struct payload_field project_fields[] = {
	PAYLOAD_FIELD(repository_id, ID, "project.id"),
	PAYLOAD_FIELD(repository, LINE, "project.path_with_namespace"),
	PAYLOAD_FIELD(default_branch, BRANCH, "project.default_branch"),
	PAYLOAD_FIELD(clone_url, URL, "project.git_http_url"),
	PAYLOAD_END,
};

/* Of an annotated tag, "after" is the tag's id and checkout_sha the commit's. */
static const struct payload_field push_fields[] = {
	PAYLOAD_FIELD(sha, COMMIT, "checkout_sha"),
	PAYLOAD_FIELD(sender, LINE, "user_username"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "user_avatar"),
	PAYLOAD_END,
};

static const struct payload_field commit_fields[] = {
	PAYLOAD_FIELD(message, TEXT, "message"),
	PAYLOAD_FIELD(author, LINE, "author.name"),
	PAYLOAD_FIELD(commit_url, URL, "url"),
	PAYLOAD_END,
};

static const struct payload_field mr_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "object_attributes.source_branch"),
	PAYLOAD_FIELD(sha, SHA, "object_attributes.last_commit.id"),
	PAYLOAD_FIELD(before, COMMIT, "object_attributes.oldrev"),
	PAYLOAD_FIELD(base, BASE, "object_attributes.target_branch"),
	PAYLOAD_FIELD(title, LINE, "object_attributes.title"),
	PAYLOAD_FIELD(body, TEXT, "object_attributes.description"),
	PAYLOAD_FIELD(pull_request_url, URL, "object_attributes.url"),
	PAYLOAD_FIELD(message, TEXT, "object_attributes.last_commit.message"),
	PAYLOAD_FIELD(author, LINE, "object_attributes.last_commit.author.name"),
	PAYLOAD_FIELD(commit_url, URL, "object_attributes.last_commit.url"),
	PAYLOAD_FIELD(sender, LINE, "user.username"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "user.avatar_url"),
	PAYLOAD_END,
};

static const struct payload_action mr_actions[] = {
	{"open", VCS_PR_OPEN},
	{"reopen", VCS_PR_OPEN},
	{"update", VCS_PR_UPDATE},
	{"close", VCS_PR_CLOSE},
	{"merge", VCS_PR_CLOSE},
	{NULL, VCS_EVENT_KINDS},
};

static void read_push(struct payload *payload)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_move(
		payload, json_string_at(body, "ref"), json_string_at(body, "before"), json_string_at(body, "after"));

	payload_fill(payload, event, body, project_fields);
	payload_fill(payload, event, body, push_fields);
	if (!event || (event->kind != VCS_PUSH && event->kind != VCS_TAG))
		return;
	payload_fill(payload, event, payload_commit(payload, "commits", "id", event->sha), commit_fields);
}

static bool base_changes(const json_t *body)
{
	return json_at(body, "changes.target_branch") != NULL;
}

static bool draft_ends(const json_t *body)
{
	return json_bool_at(body, "changes.draft.previous", false) &&
		!json_bool_at(body, "changes.draft.current", true);
}

/* VCS_EVENT_KINDS: the merge request's change does not matter. */
static enum vcs_event_kind kind_of_mr(const json_t *body)
{
	const enum vcs_event_kind kind = payload_action(mr_actions, json_string_at(body, "object_attributes.action"));

	if (kind != VCS_PR_UPDATE || json_string_at(body, "object_attributes.oldrev"))
		return kind;
	return base_changes(body) || draft_ends(body) ? VCS_PR_OPEN : VCS_EVENT_KINDS;
}

static bool is_draft(const json_t *body)
{
	return json_bool_at(
		body, "object_attributes.draft", json_bool_at(body, "object_attributes.work_in_progress", false));
}

static void read_merge_request(struct payload *payload)
{
	const json_t *body = payload->body;
	const enum vcs_event_kind kind = kind_of_mr(body);
	struct vcs_event *event;

	if (kind == VCS_EVENT_KINDS)
		return;
	event = payload_add(payload, kind);
	payload_fill(payload, event, body, project_fields);
	payload_fill(payload, event, body, mr_fields);
	payload_number(payload, event, "object_attributes.iid");
	if (!event)
		return;
	event->base_changed = base_changes(body);
	event->is_new = text_equal(json_string_at(body, "object_attributes.action"), "open");
	event->changed_at = payload_time(body, "object_attributes.updated_at");
	event->draft = is_draft(body);
	event->fork = payload_fork(body, "object_attributes.source_project_id", "object_attributes.target_project_id");
}

const struct payload_handler payload_gitlab[] = {
	{"Push Hook", read_push},
	{"Tag Push Hook", read_push},
	{"Merge Request Hook", read_merge_request},
	{NULL, NULL},
};
