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
	PAYLOAD_FIELD(number, NUMBER, "object_attributes.iid"),
	PAYLOAD_FIELD(changed_at, TIME, "object_attributes.updated_at"),
	PAYLOAD_FIELD(draft, FLAG, "object_attributes.work_in_progress"), /* of old versions */
	PAYLOAD_FIELD(draft, FLAG, "object_attributes.draft"),
	PAYLOAD_FORK_OF("object_attributes.source_project_id", "object_attributes.target_project_id"),
	PAYLOAD_END,
};

static void read_push(struct payload *payload)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_move(
		payload, json_string_at(body, "ref"), json_string_at(body, "before"), json_string_at(body, "after"));

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

static bool has_new_head(const json_t *body)
{
	return json_string_at(body, "object_attributes.oldrev") != NULL;
}

static bool change_matters(const json_t *body)
{
	return base_changes(body) || draft_ends(body);
}

static void finish_merge_request(struct payload *payload, struct vcs_event *event)
{
	event->base_changed = base_changes(payload->body);
}

#define MERGE_REQUEST .fields = mr_fields, .finish = finish_merge_request

static const struct payload_row rows[] = {
	{"Push Hook", .read = read_push},
	{"Tag Push Hook", .read = read_push},
	{"Merge Request Hook", "open", .kind = VCS_PR_OPEN, MERGE_REQUEST, .is_new = true},
	{"Merge Request Hook", "reopen", .kind = VCS_PR_OPEN, MERGE_REQUEST},
	{"Merge Request Hook", "update", has_new_head, .kind = VCS_PR_UPDATE, MERGE_REQUEST},
	{"Merge Request Hook", "update", change_matters, .kind = VCS_PR_OPEN, MERGE_REQUEST},
	{"Merge Request Hook", "close", .kind = VCS_PR_CLOSE, MERGE_REQUEST},
	{"Merge Request Hook", "merge", .kind = VCS_PR_CLOSE, MERGE_REQUEST},
	{.name = NULL},
};

const struct payload_dialect payload_gitlab = {"object_attributes.action", project_fields, rows};
