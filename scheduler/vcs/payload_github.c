/* SPDX-License-Identifier: MPL-2.0 */
/*
 * GitHub. Its lists of changed files are not used. A payload has up to 2,048 commits but not their total number, so a
 * list may be incomplete.
 */
#include "scheduler/vcs/payload_reader.h"

const struct payload_field payload_github_common[] = {
	PAYLOAD_FIELD(repository_id, ID, "repository.id"),
	PAYLOAD_FIELD(repository, LINE, "repository.full_name"),
	PAYLOAD_FIELD(default_branch, BRANCH, "repository.default_branch"),
	PAYLOAD_FIELD(clone_url, URL, "repository.clone_url"),
	PAYLOAD_FIELD(sender, LINE, "sender.login"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "sender.avatar_url"),
	PAYLOAD_FIELD(sender_url, URL, "sender.html_url"),
	PAYLOAD_FIELD(installation, INTEGER, "installation.id"), /* The App sends which one an event belongs to. */
	PAYLOAD_END,
};

/* Of an annotated tag, "after" is the tag's id and head_commit the commit's. */
static const struct payload_field push_fields[] = {
	PAYLOAD_FIELD(sha, COMMIT, "head_commit.id"),
	PAYLOAD_FIELD(message, TEXT, "head_commit.message"),
	PAYLOAD_FIELD(author, LINE, "head_commit.author.name"),
	PAYLOAD_FIELD(commit_url, URL, "head_commit.url"),
	PAYLOAD_FIELD(compare_url, URL, "compare"),
	PAYLOAD_FIELD(compare_url, URL, "compare_url"), /* Gitea's */
	PAYLOAD_END,
};

/* Gitea sends no "before". */
const struct payload_field payload_github_pull[] = {
	PAYLOAD_FIELD(ref, HEAD, "pull_request.head.ref"),
	PAYLOAD_FIELD(sha, SHA, "pull_request.head.sha"),
	PAYLOAD_FIELD(base, BASE, "pull_request.base.ref"),
	PAYLOAD_FIELD(title, LINE, "pull_request.title"),
	PAYLOAD_FIELD(body, TEXT, "pull_request.body"),
	PAYLOAD_FIELD(pull_request_url, URL, "pull_request.html_url"),
	PAYLOAD_FIELD(before, COMMIT, "before"),
	PAYLOAD_FIELD(number, NUMBER, "number"),
	PAYLOAD_FIELD(changed_at, TIME, "pull_request.updated_at"),
	PAYLOAD_END,
};

void payload_github_push(struct payload *payload)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_move(
		payload, json_string_at(body, "ref"), json_string_at(body, "before"), json_string_at(body, "after"));

	if (event && (event->kind == VCS_PUSH || event->kind == VCS_TAG))
		payload_fill(payload, event, body, push_fields);
}

/* ---- GitHub alone ---- */

static const struct payload_field pr_fields[] = {
	PAYLOAD_FIELD(draft, FLAG, "pull_request.draft"),
	PAYLOAD_FORK_OF("pull_request.head.repo.id", "pull_request.base.repo.id"),
	PAYLOAD_END,
};

static bool base_changes(const json_t *body)
{
	return json_at(body, "changes.base.ref") != NULL;
}

static void finish_pull(struct payload *payload, struct vcs_event *event)
{
	payload_fill(payload, event, payload->body, pr_fields);
	event->base_changed = base_changes(payload->body);
}

static bool default_branch_changes(const json_t *body)
{
	return json_at(body, "changes.default_branch") != NULL;
}

static const struct payload_field check_fields[] = {
	PAYLOAD_FIELD(sha, SHA, "check_run.head_sha"),
	PAYLOAD_END,
};

static const struct payload_field account_fields[] = {
	PAYLOAD_FIELD(repository, LINE, "installation.account.login"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "installation.account.avatar_url"),
	PAYLOAD_FIELD(sender_url, URL, "installation.html_url"),
	PAYLOAD_END,
};

static void finish_installation(struct payload *payload, struct vcs_event *event)
{
	if (event->installation <= 0)
		payload_fail(payload, "installation.id", "a number");
}

#define PULL         .fields = payload_github_pull, .finish = finish_pull
#define INSTALLATION .kind = VCS_INSTALL, .fields = account_fields, .finish = finish_installation

/* "create" and "delete" come beside the push of the same ref. GitHub sends "check_run" only to the App that made it. */
static const struct payload_row rows[] = {
	{"push", .read = payload_github_push},
	{"pull_request", "opened", .kind = VCS_PR_OPEN, PULL, .is_new = true},
	{"pull_request", "reopened", .kind = VCS_PR_OPEN, PULL},
	{"pull_request", "ready_for_review", .kind = VCS_PR_OPEN, PULL},
	{"pull_request", "edited", base_changes, .kind = VCS_PR_OPEN, PULL},
	{"pull_request", "synchronize", .kind = VCS_PR_UPDATE, PULL},
	{"pull_request", "closed", .kind = VCS_PR_CLOSE, PULL},
	{"repository", "renamed", .kind = VCS_RENAME},
	{"repository", "transferred", .kind = VCS_RENAME},
	{"repository", "edited", default_branch_changes, .kind = VCS_RENAME},
	{"repository", "deleted", .kind = VCS_RENAME, .removed = true},
	{"check_run", "rerequested", .kind = VCS_RERUN, .fields = check_fields},
	{"installation", "deleted", INSTALLATION, .removed = true},
	{"installation", "suspend", INSTALLATION, .removed = true},
	{"installation", INSTALLATION},
	{"installation_repositories", INSTALLATION},
	{"ping", .read = payload_read_ping},
	{.name = NULL},
};

const struct payload_dialect payload_github = {"action", payload_github_common, rows};
