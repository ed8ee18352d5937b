/* SPDX-License-Identifier: MPL-2.0 */
/* Bitbucket Data Center and Server. A push has a change for each ref. */
#include "common/vcs/address.h"
#include "scheduler/vcs/payload_reader.h"

static const struct payload_field actor_fields[] = {
	PAYLOAD_FIELD(sender, LINE, "actor.name"),
	PAYLOAD_END,
};

static const struct payload_field repository_fields[] = {
	PAYLOAD_FIELD(repository_id, ID, "id"),
	PAYLOAD_END,
};

static const struct payload_field commit_fields[] = {
	PAYLOAD_FIELD(sha, COMMIT, "id"),
	PAYLOAD_FIELD(message, TEXT, "message"),
	PAYLOAD_FIELD(author, LINE, "author.name"),
	PAYLOAD_END,
};

static const struct payload_field pr_fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "pullRequest.fromRef.id"),
	PAYLOAD_FIELD(sha, SHA, "pullRequest.fromRef.latestCommit"),
	PAYLOAD_FIELD(before, COMMIT, "previousFromHash"),
	PAYLOAD_FIELD(base, BASE, "pullRequest.toRef.id"),
	PAYLOAD_FIELD(title, LINE, "pullRequest.title"),
	PAYLOAD_FIELD(body, TEXT, "pullRequest.description"),
	PAYLOAD_FIELD(number, NUMBER, "pullRequest.id"),
	PAYLOAD_FIELD(draft, FLAG, "pullRequest.draft"),
	PAYLOAD_FIELD(changed_at, TIME, "pullRequest.updatedDate"),
	PAYLOAD_FORK_OF("pullRequest.fromRef.repository.id", "pullRequest.toRef.repository.id"),
	PAYLOAD_END,
};

static const struct payload_field link_fields[] = {
	PAYLOAD_FIELD(pull_request_url, URL, "href"),
	PAYLOAD_END,
};

static void set_repository(struct payload *payload, struct vcs_event *event, const json_t *repository)
{
	const char *project = json_string_at(repository, "project.key"), *slug = json_string_at(repository, "slug");
	_cleanup_(freep) char *identifier = NULL;
	char bounded[VCS_IDENTIFIER_MAX + 1];

	payload_fill(payload, event, repository, repository_fields);
	if (!event || !project || !slug)
		return;
	identifier = mem_printf("%s/%s", project, slug);
	text_copy(bounded, sizeof(bounded), identifier);
	payload_set(&event->repository, bounded);
}

/* `toCommit` belongs to the only change of a push. */
static void read_change(struct payload *payload, const json_t *change)
{
	const json_t *body = payload->body;
	const bool only = json_array_size(json_at(body, "changes")) == 1;
	const char *ref = json_string_at(change, "ref.id");
	struct vcs_event *event = payload_move(payload, ref ? ref : json_string_at(change, "refId"),
		json_string_at(change, "fromHash"), json_string_at(change, "toHash"));

	set_repository(payload, event, json_at(body, "repository"));
	if (event && only && (event->kind == VCS_PUSH || event->kind == VCS_TAG))
		payload_fill(payload, event, json_at(body, "toCommit"), commit_fields);
}

static void read_push(struct payload *payload)
{
	payload_each(payload, "changes", read_change);
}

static bool base_changes(const json_t *body)
{
	return json_at(body, "previousTarget.id") && !payload_same(body, "previousTarget.id", "pullRequest.toRef.id");
}

/* "pr:modified" is sent for titles, too. */
static bool change_matters(const json_t *body)
{
	return base_changes(body) ||
		(json_bool_at(body, "previousDraft", false) && !json_bool_at(body, "pullRequest.draft", false));
}

static void finish_pull(struct payload *payload, struct vcs_event *event)
{
	const json_t *body = payload->body;

	set_repository(payload, event, json_at(body, "pullRequest.toRef.repository"));
	payload_fill(payload, event, json_array_get(json_at(body, "pullRequest.links.self"), 0), link_fields);
	event->base_changed = base_changes(body);
}

static void finish_rename(struct payload *payload, struct vcs_event *event)
{
	set_repository(payload, event, json_at(payload->body, "new"));
}

#define PULL .fields = pr_fields, .finish = finish_pull

static const struct payload_row rows[] = {
	{"repo:refs_changed", .read = read_push},
	{"pr:opened", .kind = VCS_PR_OPEN, PULL, .is_new = true},
	{"pr:reopened", .kind = VCS_PR_OPEN, PULL},
	{"pr:modified", NULL, change_matters, .kind = VCS_PR_OPEN, PULL},
	{"pr:from_ref_updated", .kind = VCS_PR_UPDATE, PULL},
	{"pr:merged", .kind = VCS_PR_CLOSE, PULL},
	{"pr:declined", .kind = VCS_PR_CLOSE, PULL},
	{"pr:deleted", .kind = VCS_PR_CLOSE, PULL},
	{"repo:modified", .kind = VCS_RENAME, .finish = finish_rename},
	{"diagnostics:ping", .read = payload_read_ping},
	{.name = NULL},
};

const struct payload_dialect payload_bitbucket_server = {NULL, actor_fields, rows};
