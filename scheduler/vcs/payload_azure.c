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
	PAYLOAD_END,
};

static const struct payload_field head_fields[] = {
	PAYLOAD_FIELD(sha, SHA, "resource.lastMergeSourceCommit.commitId"),
	PAYLOAD_END,
};

static int hex_digit(char digit)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)((at - digits) % 16) : -1;
}

/* Decodes %XX in place. */
static void decode(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		const int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;

		if (low >= 0 && high * 16 + low) {
			*to++ = (char)(high * 16 + low);
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

/* The last four parts of the address: "org/project/_git/repo". What is not such an identifier is left out. */
static void set_identifier(struct vcs_event *event, const char *remote_url)
{
	_cleanup_(freep) char *copy = mem_text(text_or_empty(remote_url));
	struct err err = ERR_INIT;
	char *part = copy + strlen(copy);
	int slashes = 0;

	while (part > copy && slashes < 4)
		slashes += *--part == '/';
	if (slashes < 4)
		return;
	decode(++part);
	if (vcs_identifier_check(VCS_AZURE, part, &err) < 0)
		return;
	free(event->repository);
	event->repository = mem_text(part);
}

static void fill_common(struct payload *payload, struct vcs_event *event)
{
	payload_fill(payload, event, payload->body, common_fields);
	if (event)
		set_identifier(event, json_string_at(payload->body, "resource.repository.remoteUrl"));
}

static void read_push(struct payload *payload)
{
	const json_t *updates = json_at(payload->body, "resource.refUpdates"), *update;
	size_t i;

	if (!json_is_array(updates))
		payload_fail(payload, "resource.refUpdates", "a list");
	json_array_foreach(updates, i, update)
	{
		struct vcs_event *event = payload_move(payload, json_string_at(update, "name"),
			json_string_at(update, "oldObjectId"), json_string_at(update, "newObjectId"));

		fill_common(payload, event);
		payload_fill(payload, event, payload->body, push_fields);
		if (event)
			payload_fill(payload, event,
				payload_commit(payload, "resource.commits", "commitId", event->sha), commit_fields);
	}
}

static bool is_open(const json_t *body)
{
	return text_equal(json_string_at(body, "resource.status"), "active");
}

static const struct payload_action pr_actions[] = {
	{"git.pullrequest.created", VCS_PR_OPEN},
	{"git.pullrequest.updated", VCS_PR_UPDATE},
	{NULL, VCS_EVENT_KINDS},
};

static void read_pull_request(struct payload *payload)
{
	const json_t *body = payload->body, *fork = json_at(body, "resource.forkSource");
	const enum vcs_event_kind kind = is_open(body) ? payload_action(pr_actions, payload->name) : VCS_PR_CLOSE;
	struct vcs_event *event;

	/* "merged" is sent for attempts to merge, too: then the pull request is still active. */
	if (kind == VCS_EVENT_KINDS)
		return;
	event = payload_add(payload, kind);
	fill_common(payload, event);
	payload_fill(payload, event, body, pr_fields);
	/* A closed one may have no commit. */
	if (kind != VCS_PR_CLOSE)
		payload_fill(payload, event, body, head_fields);
	payload_number(payload, event, "resource.pullRequestId");
	if (!event)
		return;
	event->draft = json_bool_at(body, "resource.isDraft", false);
	event->is_new = text_equal(payload->name, "git.pullrequest.created");
	event->changed_at = payload_time(body, "createdDate");
	event->fork = fork && !json_is_null(fork) ? VCS_FORK_YES : VCS_FORK_NO;
}

static void read_repository(struct payload *payload)
{
	struct vcs_event *event = payload_add(payload, VCS_RENAME);

	fill_common(payload, event);
	if (event)
		event->removed = text_equal(payload->name, "git.repo.deleted");
}

const struct payload_handler payload_azure[] = {
	{"git.push", read_push},
	{"git.pullrequest.created", read_pull_request},
	{"git.pullrequest.updated", read_pull_request},
	{"git.pullrequest.merged", read_pull_request},
	{"git.repo.renamed", read_repository},
	{"git.repo.deleted", read_repository},
	{NULL, NULL},
};
