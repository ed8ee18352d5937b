/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Gitea and Forgejo. Lists of changed files are not used: a payload does not tell whether the push was forced, and then
 * files of the commits that are gone have changed, too.
 */
#include <strings.h>

#include "scheduler/vcs/payload_reader.h"

static const struct payload_field common_fields[] = {
	PAYLOAD_FIELD(repository_id, ID, "repository.id"),
	PAYLOAD_FIELD(repository, LINE, "repository.full_name"),
	PAYLOAD_FIELD(default_branch, BRANCH, "repository.default_branch"),
	PAYLOAD_FIELD(clone_url, URL, "repository.clone_url"),
	PAYLOAD_FIELD(sender, LINE, "sender.login"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "sender.avatar_url"),
	PAYLOAD_FIELD(sender_url, URL, "sender.html_url"),
	PAYLOAD_END,
};

/* Of an annotated tag, "after" is the tag's id and head_commit the commit's. */
static const struct payload_field push_fields[] = {
	PAYLOAD_FIELD(sha, COMMIT, "head_commit.id"),
	PAYLOAD_FIELD(message, TEXT, "head_commit.message"),
	PAYLOAD_FIELD(author, LINE, "head_commit.author.name"),
	PAYLOAD_FIELD(commit_url, URL, "head_commit.url"),
	PAYLOAD_FIELD(compare_url, URL, "compare_url"),
	PAYLOAD_END,
};

static const struct payload_field pr_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "pull_request.head.ref"),
	PAYLOAD_FIELD(sha, SHA, "pull_request.head.sha"),
	PAYLOAD_FIELD(base, BASE, "pull_request.base.ref"),
	PAYLOAD_FIELD(title, LINE, "pull_request.title"),
	PAYLOAD_FIELD(body, TEXT, "pull_request.body"),
	PAYLOAD_FIELD(pull_request_url, URL, "pull_request.html_url"),
	PAYLOAD_END,
};

static const struct payload_field delete_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "ref"),
	PAYLOAD_END,
};

static const struct payload_action pr_actions[] = {
	{"opened", VCS_PR_OPEN},
	{"reopened", VCS_PR_OPEN},
	{"edited", VCS_PR_OPEN},
	{"synchronized", VCS_PR_UPDATE},
	{"closed", VCS_PR_CLOSE},
	{NULL, VCS_EVENT_KINDS},
};

static void read_push(struct payload *payload)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_move(
		payload, json_string_at(body, "ref"), json_string_at(body, "before"), json_string_at(body, "after"));

	payload_fill(payload, event, body, common_fields);
	if (event && (event->kind == VCS_PUSH || event->kind == VCS_TAG))
		payload_fill(payload, event, body, push_fields);
}

/* A deleted branch comes as "delete" only, a deleted tag as "push", too. The payload has the short name, and not which
 * commit the branch was at. */
static void read_delete(struct payload *payload)
{
	struct vcs_event *event;

	if (!text_equal(json_string_at(payload->body, "ref_type"), "branch"))
		return;
	event = payload_add(payload, VCS_BRANCH_DELETE);
	payload_fill(payload, event, payload->body, common_fields);
	payload_fill(payload, event, payload->body, delete_fields);
}

/* The title of a pull request says that it is a draft. */
static bool is_draft_title(const char *title)
{
	return title && (!strncasecmp(title, "WIP:", 4) || !strncasecmp(title, "[WIP]", 5));
}

static bool is_draft(const json_t *body)
{
	return json_bool_at(body, "pull_request.draft", is_draft_title(json_string_at(body, "pull_request.title")));
}

/* An edit matters if it changed the destination or ended the draft. */
static bool edit_matters(const json_t *body)
{
	return json_at(body, "changes.ref") != NULL ||
		(!is_draft(body) && is_draft_title(json_string_at(body, "changes.title.from")));
}

static void read_pull_request(struct payload *payload)
{
	const json_t *body = payload->body;
	const char *action = json_string_at(body, "action");
	const enum vcs_event_kind kind = payload_action(pr_actions, action);
	struct vcs_event *event;

	if (kind == VCS_EVENT_KINDS || (text_equal(action, "edited") && !edit_matters(body)))
		return;
	event = payload_add(payload, kind);
	payload_fill(payload, event, body, common_fields);
	payload_fill(payload, event, body, pr_fields);
	payload_number(payload, event, "number");
	if (!event)
		return;
	event->base_changed = json_at(body, "changes.ref") != NULL;
	event->is_new = text_equal(action, "opened");
	event->changed_at = payload_time(body, "pull_request.updated_at");
	event->draft = is_draft(body);
	event->fork = payload_same(body, "pull_request.head.repo_id", "pull_request.base.repo_id") ? VCS_FORK_NO
												   : VCS_FORK_YES;
}

static void read_repository(struct payload *payload)
{
	struct vcs_event *event;

	if (!text_equal(json_string_at(payload->body, "action"), "deleted"))
		return;
	event = payload_add(payload, VCS_RENAME);
	payload_fill(payload, event, payload->body, common_fields);
	if (event)
		event->removed = true;
}

/* A tag comes as "push" and as "create": the push is enough. */
const struct payload_handler payload_gitea[] = {
	{"push", read_push},
	{"delete", read_delete},
	{"pull_request", read_pull_request},
	{"repository", read_repository},
	{NULL, NULL},
};
