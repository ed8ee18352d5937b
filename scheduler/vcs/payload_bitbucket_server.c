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
	PAYLOAD_END,
};

static const struct payload_field link_fields[] = {
	PAYLOAD_FIELD(pull_request_url, URL, "href"),
	PAYLOAD_END,
};

static const struct payload_action pr_actions[] = {
	{"pr:opened", VCS_PR_OPEN},
	{"pr:reopened", VCS_PR_OPEN},
	{"pr:modified", VCS_PR_OPEN},
	{"pr:from_ref_updated", VCS_PR_UPDATE},
	{"pr:merged", VCS_PR_CLOSE},
	{"pr:declined", VCS_PR_CLOSE},
	{"pr:deleted", VCS_PR_CLOSE},
	{NULL, VCS_EVENT_KINDS},
};

static void fill_common(struct payload *payload, struct vcs_event *event, const json_t *repository)
{
	const char *project = json_string_at(repository, "project.key"), *slug = json_string_at(repository, "slug");
	_cleanup_(freep) char *identifier = NULL;
	char bounded[VCS_IDENTIFIER_MAX + 1];

	payload_fill(payload, event, payload->body, actor_fields);
	payload_fill(payload, event, repository, repository_fields);
	if (!event || !project || !slug)
		return;
	identifier = mem_printf("%s/%s", project, slug);
	text_copy(bounded, sizeof(bounded), identifier);
	free(event->repository);
	event->repository = mem_text(bounded);
}

/* `toCommit` belongs to the only change of a push. */
static void read_change(struct payload *payload, const json_t *change, bool only)
{
	const json_t *body = payload->body, *commit = only ? json_at(body, "toCommit") : NULL;
	const char *ref = json_string_at(change, "ref.id");
	struct vcs_event *event = payload_move(payload, ref ? ref : json_string_at(change, "refId"),
		json_string_at(change, "fromHash"), json_string_at(change, "toHash"));

	fill_common(payload, event, json_at(body, "repository"));
	if (event && (event->kind == VCS_PUSH || event->kind == VCS_TAG))
		payload_fill(payload, event, commit, commit_fields);
}

static void read_push(struct payload *payload)
{
	const json_t *changes = json_at(payload->body, "changes"), *change;
	size_t i;

	if (!json_is_array(changes))
		payload_fail(payload, "changes", "a list");
	json_array_foreach(changes, i, change)
	{
		read_change(payload, change, json_array_size(changes) == 1);
	}
}

static bool base_changes(const json_t *body)
{
	return json_at(body, "previousTarget.id") && !payload_same(body, "previousTarget.id", "pullRequest.toRef.id");
}

static bool is_draft(const json_t *body)
{
	return json_bool_at(body, "pullRequest.draft", false);
}

/* "pr:modified" is sent for titles, too. */
static bool change_matters(const json_t *body)
{
	return base_changes(body) || (json_bool_at(body, "previousDraft", false) && !is_draft(body));
}

static void read_pull_request(struct payload *payload)
{
	const json_t *body = payload->body;
	struct vcs_event *event;

	if (text_equal(payload->name, "pr:modified") && !change_matters(body))
		return;
	event = payload_add(payload, payload_action(pr_actions, payload->name));
	fill_common(payload, event, json_at(body, "pullRequest.toRef.repository"));
	payload_fill(payload, event, body, pr_fields);
	payload_fill(payload, event, json_array_get(json_at(body, "pullRequest.links.self"), 0), link_fields);
	payload_number(payload, event, "pullRequest.id");
	if (!event)
		return;
	event->base_changed = base_changes(body);
	event->is_new = text_equal(payload->name, "pr:opened");
	event->changed_at = payload_time(body, "pullRequest.updatedDate");
	event->draft = is_draft(body);
	event->fork = payload_fork(body, "pullRequest.fromRef.repository.id", "pullRequest.toRef.repository.id");
}

static void read_repository(struct payload *payload)
{
	struct vcs_event *event = payload_add(payload, VCS_RENAME);

	fill_common(payload, event, json_at(payload->body, "new"));
}

const struct payload_handler payload_bitbucket_server[] = {
	{"repo:refs_changed", read_push},
	{"pr:opened", read_pull_request},
	{"pr:reopened", read_pull_request},
	{"pr:modified", read_pull_request},
	{"pr:from_ref_updated", read_pull_request},
	{"pr:merged", read_pull_request},
	{"pr:declined", read_pull_request},
	{"pr:deleted", read_pull_request},
	{"repo:modified", read_repository},
	{"diagnostics:ping", payload_read_ping},
	{NULL, NULL},
};
