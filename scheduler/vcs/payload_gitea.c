/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Gitea and Forgejo. Most forms are GitHub's. Lists of changed files are not used, because a payload does not show
 * whether the push was forced. A forced push also changes the files of the commits that it removes.
 */
#include <strings.h>

#include "scheduler/vcs/payload_reader.h"

static const struct payload_field compare_fields[] = {
	PAYLOAD_FIELD(compare_url, URL, "compare_url"),
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
	payload_github_push(payload, compare_fields);
}

/* The deletion of a branch is sent as "delete" only, that of a tag as "push", too. The payload has the short name, but
 * not the last commit of the branch. */
static void read_delete(struct payload *payload)
{
	struct vcs_event *event;

	if (!text_equal(json_string_at(payload->body, "ref_type"), "branch"))
		return;
	event = payload_add(payload, VCS_BRANCH_DELETE);
	payload_github_common(payload, event);
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
	event = payload_github_pull(payload, kind);
	if (!event)
		return;
	event->base_changed = json_at(body, "changes.ref") != NULL;
	event->draft = is_draft(body);
	event->fork = payload_fork(body, "pull_request.head.repo_id", "pull_request.base.repo_id");
}

static void read_repository(struct payload *payload)
{
	if (text_equal(json_string_at(payload->body, "action"), "deleted"))
		payload_github_rename(payload);
}

/* A tag comes as "push" and as "create": the push is enough. */
const struct payload_handler payload_gitea[] = {
	{"push", read_push},
	{"delete", read_delete},
	{"pull_request", read_pull_request},
	{"repository", read_repository},
	{NULL, NULL},
};
