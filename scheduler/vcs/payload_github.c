/* SPDX-License-Identifier: MPL-2.0 */
/*
 * GitHub. Its lists of changed files are not used. A payload has up to 2,048 commits but not their total number, so a
 * list may be incomplete.
 */
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
	PAYLOAD_END,
};

static const struct payload_field compare_fields[] = {
	PAYLOAD_FIELD(compare_url, URL, "compare"),
	PAYLOAD_END,
};

/* Gitea sends no "before". */
static const struct payload_field pr_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "pull_request.head.ref"),
	PAYLOAD_FIELD(sha, SHA, "pull_request.head.sha"),
	PAYLOAD_FIELD(base, BASE, "pull_request.base.ref"),
	PAYLOAD_FIELD(title, LINE, "pull_request.title"),
	PAYLOAD_FIELD(body, TEXT, "pull_request.body"),
	PAYLOAD_FIELD(pull_request_url, URL, "pull_request.html_url"),
	PAYLOAD_FIELD(before, COMMIT, "before"),
	PAYLOAD_END,
};

/* The App sends which installation an event belongs to. */
void payload_github_common(struct payload *payload, struct vcs_event *event)
{
	payload_fill(payload, event, payload->body, common_fields);
	if (event)
		event->installation = json_int_at(payload->body, "installation.id", 0);
}

void payload_github_push(struct payload *payload, const struct payload_field *compare)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_move(
		payload, json_string_at(body, "ref"), json_string_at(body, "before"), json_string_at(body, "after"));

	payload_github_common(payload, event);
	if (!event || (event->kind != VCS_PUSH && event->kind != VCS_TAG))
		return;
	payload_fill(payload, event, body, push_fields);
	payload_fill(payload, event, body, compare);
}

struct vcs_event *payload_github_pull(struct payload *payload, enum vcs_event_kind kind)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_add(payload, kind);

	payload_github_common(payload, event);
	payload_fill(payload, event, body, pr_fields);
	payload_number(payload, event, "number");
	if (!event)
		return NULL;
	event->is_new = text_equal(json_string_at(body, "action"), "opened");
	event->changed_at = payload_time(body, "pull_request.updated_at");
	return event;
}

void payload_github_rename(struct payload *payload)
{
	struct vcs_event *event = payload_add(payload, VCS_RENAME);

	payload_github_common(payload, event);
	if (event)
		event->removed = text_equal(json_string_at(payload->body, "action"), "deleted");
}

/* ---- GitHub alone ---- */

static void read_push(struct payload *payload)
{
	payload_github_push(payload, compare_fields);
}

static const struct payload_action pr_actions[] = {
	{"opened", VCS_PR_OPEN},
	{"reopened", VCS_PR_OPEN},
	{"ready_for_review", VCS_PR_OPEN},
	{"edited", VCS_PR_OPEN},
	{"synchronize", VCS_PR_UPDATE},
	{"closed", VCS_PR_CLOSE},
	{NULL, VCS_EVENT_KINDS},
};

static void read_pull_request(struct payload *payload)
{
	const json_t *body = payload->body;
	const char *action = json_string_at(body, "action");
	const enum vcs_event_kind kind = payload_action(pr_actions, action);
	const bool base_changed = json_at(body, "changes.base.ref") != NULL;
	struct vcs_event *event;

	if (kind == VCS_EVENT_KINDS || (text_equal(action, "edited") && !base_changed))
		return;
	event = payload_github_pull(payload, kind);
	if (!event)
		return;
	event->base_changed = base_changed;
	event->draft = json_bool_at(body, "pull_request.draft", false);
	event->fork = payload_fork(body, "pull_request.head.repo.id", "pull_request.base.repo.id");
}

static void read_repository(struct payload *payload)
{
	static const struct payload_action actions[] = {
		{"renamed", VCS_RENAME},
		{"transferred", VCS_RENAME},
		{"edited", VCS_RENAME},
		{"deleted", VCS_RENAME},
		{NULL, VCS_EVENT_KINDS},
	};
	const char *action = json_string_at(payload->body, "action");

	if (payload_action(actions, action) == VCS_EVENT_KINDS ||
		(text_equal(action, "edited") && !json_at(payload->body, "changes.default_branch")))
		return;
	payload_github_rename(payload);
}

static const struct payload_field check_fields[] = {
	PAYLOAD_FIELD(sha, SHA, "check_run.head_sha"),
	PAYLOAD_END,
};

/* GitHub sends it only to the App that made the check run. */
static void read_check_run(struct payload *payload)
{
	struct vcs_event *event;

	if (!text_equal(json_string_at(payload->body, "action"), "rerequested"))
		return;
	event = payload_add(payload, VCS_RERUN);
	payload_github_common(payload, event);
	payload_fill(payload, event, payload->body, check_fields);
}

static const struct payload_field account_fields[] = {
	PAYLOAD_FIELD(repository, LINE, "installation.account.login"),
	PAYLOAD_FIELD(sender, LINE, "sender.login"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "installation.account.avatar_url"),
	PAYLOAD_FIELD(sender_url, URL, "installation.html_url"),
	PAYLOAD_END,
};

static void read_installation(struct payload *payload)
{
	const char *action = json_string_at(payload->body, "action");
	struct vcs_event *event = payload_add(payload, VCS_INSTALL);

	payload_fill(payload, event, payload->body, account_fields);
	if (!event)
		return;
	event->installation = json_int_at(payload->body, "installation.id", 0);
	event->removed = text_equal(payload->name, "installation") &&
		(text_equal(action, "deleted") || text_equal(action, "suspend"));
	if (event->installation <= 0)
		payload_fail(payload, "installation.id", "a number");
}

/* "create" and "delete" come beside the push of the same ref. */
const struct payload_handler payload_github[] = {
	{"push", read_push},
	{"pull_request", read_pull_request},
	{"repository", read_repository},
	{"check_run", read_check_run},
	{"installation", read_installation},
	{"installation_repositories", read_installation},
	{"ping", payload_read_ping},
	{NULL, NULL},
};
