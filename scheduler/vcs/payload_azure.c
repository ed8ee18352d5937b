/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Azure DevOps. A push has an update for each ref. An update of a pull request does not tell what has changed: a known
 * head is a duplicate for the rules.
 */
#include <string.h>

#include "common/err.h"
#include "common/vcs/address.h"
#include "scheduler/vcs/payload_reader.h"

static const struct payload_field common_fields[] = {
	PAYLOAD_FIELD(repository_id, ID, "resource.repository.id"),
	PAYLOAD_FIELD(default_branch, BRANCH, "resource.repository.defaultBranch"),
	PAYLOAD_END,
};

static const struct payload_field push_fields[] = {
	PAYLOAD_FIELD(sender, LINE, "resource.pushedBy.displayName"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "resource.pushedBy.imageUrl"),
	PAYLOAD_END,
};

static const struct payload_field commit_fields[] = {
	PAYLOAD_FIELD(message, TEXT, "comment"),
	PAYLOAD_FIELD(author, LINE, "author.name"),
	PAYLOAD_END,
};

static const struct payload_field pr_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "resource.sourceRefName"),
	PAYLOAD_FIELD(base, BASE, "resource.targetRefName"),
	PAYLOAD_FIELD(title, LINE, "resource.title"),
	PAYLOAD_FIELD(body, TEXT, "resource.description"),
	PAYLOAD_FIELD(pull_request_url, URL, "resource._links.web.href"),
	PAYLOAD_FIELD(sender, LINE, "resource.createdBy.displayName"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "resource.createdBy.imageUrl"),
	PAYLOAD_FIELD(number, NUMBER, "resource.pullRequestId"),
	PAYLOAD_FIELD(draft, FLAG, "resource.isDraft"),
	PAYLOAD_FIELD(changed_at, TIME, "createdDate"),
	PAYLOAD_END,
};

static const struct payload_field head_fields[] = {
	PAYLOAD_FIELD(sha, SHA, "resource.lastMergeSourceCommit.commitId"),
	PAYLOAD_END,
};

/* The last four parts of the address: "org/project/_git/repo". What is not such an identifier is left out. */
static void set_identifier(struct payload *payload, struct vcs_event *event)
{
	const char *url = json_string_at(payload->body, "resource.repository.remoteUrl");
	_cleanup_(freep) char *copy = mem_text(text_or_empty(url));
	struct err err = ERR_INIT;
	char *part = copy + strlen(copy);
	int slashes = 0;

	while (part > copy && slashes < 4)
		slashes += *--part == '/';
	if (slashes < 4)
		return;
	text_percent_decode(++part);
	if (vcs_identifier_check(VCS_AZURE, part, &err) == 0)
		payload_set(&event->repository, part);
}

static void read_update(struct payload *payload, const json_t *update)
{
	struct vcs_event *event = payload_move(payload, json_string_at(update, "name"),
		json_string_at(update, "oldObjectId"), json_string_at(update, "newObjectId"));

	if (!event)
		return;
	set_identifier(payload, event);
	payload_fill(payload, event, payload->body, push_fields);
	payload_fill(
		payload, event, payload_commit(payload, "resource.commits", "commitId", event->sha), commit_fields);
}

static void read_push(struct payload *payload)
{
	payload_each(payload, "resource.refUpdates", read_update);
}

static bool is_open(const json_t *body)
{
	return text_equal(json_string_at(body, "resource.status"), "active");
}

static bool is_closed(const json_t *body)
{
	return !is_open(body);
}

static void finish_pull(struct payload *payload, struct vcs_event *event)
{
	const json_t *fork = json_at(payload->body, "resource.forkSource");

	set_identifier(payload, event);
	/* A closed one may have no commit. */
	if (event->kind != VCS_PR_CLOSE)
		payload_fill(payload, event, payload->body, head_fields);
	event->fork = fork && !json_is_null(fork) ? VCS_FORK_YES : VCS_FORK_NO;
}

#define PULL .fields = pr_fields, .finish = finish_pull

/* "merged" is sent for attempts to merge, too: then the pull request is still active. */
static const struct payload_row rows[] = {
	{"git.push", .read = read_push},
	{"git.pullrequest.created", NULL, is_open, .kind = VCS_PR_OPEN, PULL, .is_new = true},
	{"git.pullrequest.updated", NULL, is_open, .kind = VCS_PR_UPDATE, PULL},
	{"git.pullrequest.created", NULL, is_closed, .kind = VCS_PR_CLOSE, PULL},
	{"git.pullrequest.updated", NULL, is_closed, .kind = VCS_PR_CLOSE, PULL},
	{"git.pullrequest.merged", NULL, is_closed, .kind = VCS_PR_CLOSE, PULL},
	{"git.repo.renamed", .kind = VCS_RENAME, .finish = set_identifier},
	{"git.repo.deleted", .kind = VCS_RENAME, .finish = set_identifier, .removed = true},
	{.name = NULL},
};

const struct payload_dialect payload_azure = {NULL, common_fields, rows};
