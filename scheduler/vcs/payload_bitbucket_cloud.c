/* SPDX-License-Identifier: MPL-2.0 */
/* Bitbucket Cloud. A push has a change for each ref. A pull request's head has 12 digits only. */
#include <string.h>

#include "common/vcs/ref.h"
#include "scheduler/vcs/payload_reader.h"

static const struct payload_field common_fields[] = {
	PAYLOAD_FIELD(repository_id, ID, "repository.uuid"),
	PAYLOAD_FIELD(repository, LINE, "repository.full_name"),
	PAYLOAD_FIELD(default_branch, BRANCH, "repository.mainbranch.name"),
	PAYLOAD_FIELD(sender, LINE, "actor.nickname"),
	PAYLOAD_FIELD(sender_avatar_url, URL, "actor.links.avatar.href"),
	PAYLOAD_FIELD(sender_url, URL, "actor.links.html.href"),
	PAYLOAD_END,
};

static const struct payload_field change_fields[] = {
	PAYLOAD_FIELD(message, TEXT, "new.target.message"),
	PAYLOAD_FIELD(author, LINE, "new.target.author.raw"),
	PAYLOAD_FIELD(commit_url, URL, "new.target.links.html.href"),
	PAYLOAD_FIELD(compare_url, URL, "links.html.href"),
	PAYLOAD_END,
};

static const struct payload_field pr_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "pullrequest.source.branch.name"),
	PAYLOAD_FIELD(base, BASE, "pullrequest.destination.branch.name"),
	PAYLOAD_FIELD(title, LINE, "pullrequest.title"),
	PAYLOAD_FIELD(body, TEXT, "pullrequest.description"),
	PAYLOAD_FIELD(pull_request_url, URL, "pullrequest.links.html.href"),
	PAYLOAD_END,
};

static const struct payload_action pr_actions[] = {
	{"pullrequest:created", VCS_PR_OPEN},
	{"pullrequest:updated", VCS_PR_UPDATE},
	{"pullrequest:fulfilled", VCS_PR_CLOSE},
	{"pullrequest:rejected", VCS_PR_CLOSE},
	{NULL, VCS_EVENT_KINDS},
};

/* The full name of a change's ref, to be freed; NULL if it is neither a branch nor a tag. */
static char *ref_of(const json_t *change)
{
	const json_t *side = json_is_object(json_at(change, "new")) ? json_at(change, "new") : json_at(change, "old");
	const char *type = json_string_at(side, "type"), *name = json_string_at(side, "name");

	if (!name)
		return NULL;
	if (text_equal(type, "tag"))
		return mem_printf("refs/tags/%s", name);
	return text_equal(type, "branch") ? mem_printf("refs/heads/%s", name) : NULL;
}

static void read_change(struct payload *payload, const json_t *change)
{
	_cleanup_(freep) char *ref = ref_of(change);
	struct vcs_event *event;

	if (!ref)
		return;
	event = payload_move(
		payload, ref, json_string_at(change, "old.target.hash"), json_string_at(change, "new.target.hash"));
	payload_fill(payload, event, payload->body, common_fields);
	payload_fill(payload, event, change, change_fields);
}

static void read_push(struct payload *payload)
{
	const json_t *changes = json_at(payload->body, "push.changes"), *change;
	size_t i;

	if (!json_is_array(changes))
		payload_fail(payload, "push.changes", "a list");
	json_array_foreach(changes, i, change)
	{
		read_change(payload, change);
	}
}

static void set_head(struct payload *payload, struct vcs_event *event)
{
	static const char path[] = "pullrequest.source.commit.hash";
	const char *hash = json_string_at(payload->body, path);
	const size_t len = hash ? strlen(hash) : 0;
	char **member;

	if (len < 7 || len > VCS_SHA_MAX || strspn(hash, "0123456789abcdef") != len) {
		/* The commit is null if a fork was deleted. */
		if (event->kind != VCS_PR_CLOSE)
			payload_fail(payload, path, "a commit id");
		return;
	}
	member = vcs_sha_valid(hash) ? &event->sha : &event->short_sha;
	free(*member);
	*member = mem_text(hash);
}

static void read_pull_request(struct payload *payload)
{
	const json_t *body = payload->body;
	struct vcs_event *event = payload_add(payload, payload_action(pr_actions, payload->name));

	payload_fill(payload, event, body, common_fields);
	payload_fill(payload, event, body, pr_fields);
	payload_number(payload, event, "pullrequest.id");
	if (!event)
		return;
	set_head(payload, event);
	event->draft = json_bool_at(body, "pullrequest.draft", false);
	event->is_new = text_equal(payload->name, "pullrequest:created");
	event->changed_at = payload_time(body, "pullrequest.updated_on");
	event->fork =
		payload_fork(body, "pullrequest.source.repository.uuid", "pullrequest.destination.repository.uuid");
}

static void read_repository(struct payload *payload)
{
	struct vcs_event *event = payload_add(payload, VCS_RENAME);

	payload_fill(payload, event, payload->body, common_fields);
	if (event)
		event->removed = text_equal(payload->name, "repo:deleted");
}

const struct payload_handler payload_bitbucket_cloud[] = {
	{"repo:push", read_push},
	{"pullrequest:created", read_pull_request},
	{"pullrequest:updated", read_pull_request},
	{"pullrequest:fulfilled", read_pull_request},
	{"pullrequest:rejected", read_pull_request},
	{"repo:updated", read_repository},
	{"repo:transfer", read_repository},
	{"repo:deleted", read_repository},
	{NULL, NULL},
};
