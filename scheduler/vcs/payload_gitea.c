/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Gitea and Forgejo. Most forms are GitHub's. Lists of changed files are not used, because a payload does not show
 * whether the push was forced. A forced push also changes the files of the commits that it removes.
 */
#include <strings.h>

#include "scheduler/vcs/payload_reader.h"

static const struct payload_field delete_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "ref"),
	PAYLOAD_END,
};

static const struct payload_field pr_fields[] = {
	PAYLOAD_FORK_OF("pull_request.head.repo_id", "pull_request.base.repo_id"),
	PAYLOAD_END,
};

static bool is_branch(const json_t *body)
{
	return text_equal(json_string_at(body, "ref_type"), "branch");
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

static bool base_changes(const json_t *body)
{
	return json_at(body, "changes.ref") != NULL;
}

/* An edit matters if it changed the destination or ended the draft. */
static bool edit_matters(const json_t *body)
{
	return base_changes(body) || (!is_draft(body) && is_draft_title(json_string_at(body, "changes.title.from")));
}

static void finish_pull(struct payload *payload, struct vcs_event *event)
{
	payload_fill(payload, event, payload->body, pr_fields);
	event->base_changed = base_changes(payload->body);
	event->draft = is_draft(payload->body);
}

#define PULL .fields = payload_github_pull, .finish = finish_pull

/* A tag comes as "push" and as "create": the push is enough. The deletion of a branch is sent as "delete" only, that of
 * a tag as "push", too. The payload has the short name, but not the last commit of the branch. */
static const struct payload_row rows[] = {
	{"push", .read = payload_github_push},
	{"delete", NULL, is_branch, .kind = VCS_BRANCH_DELETE, .fields = delete_fields},
	{"pull_request", "opened", .kind = VCS_PR_OPEN, PULL, .is_new = true},
	{"pull_request", "reopened", .kind = VCS_PR_OPEN, PULL},
	{"pull_request", "edited", edit_matters, .kind = VCS_PR_OPEN, PULL},
	{"pull_request", "synchronized", .kind = VCS_PR_UPDATE, PULL},
	{"pull_request", "closed", .kind = VCS_PR_CLOSE, PULL},
	{"repository", "deleted", .kind = VCS_RENAME, .removed = true},
	{.name = NULL},
};

const struct payload_dialect payload_gitea = {"action", payload_github_common, rows};
