/* SPDX-License-Identifier: MPL-2.0 */
/* Bitbucket Cloud. A push has a change for each ref. A pull request's head has 12 digits only. */
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
	PAYLOAD_FIELD(number, NUMBER, "pullrequest.id"),
	PAYLOAD_FIELD(draft, FLAG, "pullrequest.draft"),
	PAYLOAD_FIELD(changed_at, TIME, "pullrequest.updated_on"),
	PAYLOAD_FORK_OF("pullrequest.source.repository.uuid", "pullrequest.destination.repository.uuid"),
	PAYLOAD_END,
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
	payload_fill(payload, event, change, change_fields);
}

static void read_push(struct payload *payload)
{
	payload_each(payload, "push.changes", read_change);
}

static void set_head(struct payload *payload, struct vcs_event *event)
{
	static const char path[] = "pullrequest.source.commit.hash";
	const char *hash = json_string_at(payload->body, path);

	if (payload_is_prefix(hash))
		payload_set(vcs_sha_valid(hash) ? &event->sha : &event->short_sha, hash);
	else if (event->kind != VCS_PR_CLOSE) /* The commit is null if a fork was deleted. */
		payload_fail(payload, path, "a commit id");
}

#define PULL .fields = pr_fields, .finish = set_head

static const struct payload_row rows[] = {
	{"repo:push", .read = read_push},
	{"pullrequest:created", .kind = VCS_PR_OPEN, PULL, .is_new = true},
	{"pullrequest:updated", .kind = VCS_PR_UPDATE, PULL},
	{"pullrequest:fulfilled", .kind = VCS_PR_CLOSE, PULL},
	{"pullrequest:rejected", .kind = VCS_PR_CLOSE, PULL},
	{"repo:updated", .kind = VCS_RENAME},
	{"repo:transfer", .kind = VCS_RENAME},
	{"repo:deleted", .kind = VCS_RENAME, .removed = true},
	{.name = NULL},
};

const struct payload_dialect payload_bitbucket_cloud = {NULL, common_fields, rows};
