/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/event.h"

const char *const vcs_event_names[VCS_EVENT_KINDS] = {
	[VCS_PUSH] = "push",
	[VCS_BRANCH_DELETE] = "branch_delete",
	[VCS_TAG] = "tag",
	[VCS_TAG_DELETE] = "tag_delete",
	[VCS_PR_OPEN] = "pr_open",
	[VCS_PR_UPDATE] = "pr_update",
	[VCS_PR_CLOSE] = "pr_close",
	[VCS_INSTALL] = "install",
	[VCS_RENAME] = "rename",
	[VCS_PING] = "ping",
	[VCS_RERUN] = "rerun",
};

static const char *const forks[] = {
	[VCS_FORK_UNKNOWN] = "unknown",
	[VCS_FORK_NO] = "no",
	[VCS_FORK_YES] = "yes",
};

/* The texts without a column. */
static const struct {
	const char *name;
	size_t offset;
} texts[] = {
	{"short_sha", offsetof(struct vcs_event, short_sha)},
	{"repository_id", offsetof(struct vcs_event, repository_id)},
	{"repository", offsetof(struct vcs_event, repository)},
	{"default_branch", offsetof(struct vcs_event, default_branch)},
	{"base", offsetof(struct vcs_event, base)},
	{"title", offsetof(struct vcs_event, title)},
	{"body", offsetof(struct vcs_event, body)},
	{"url", offsetof(struct vcs_event, pull_request_url)},
	{"message", offsetof(struct vcs_event, message)},
	{"author", offsetof(struct vcs_event, author)},
	{"commit_url", offsetof(struct vcs_event, commit_url)},
	{"compare_url", offsetof(struct vcs_event, compare_url)},
	{"clone_url", offsetof(struct vcs_event, clone_url)},
	{"sender", offsetof(struct vcs_event, sender)},
	{"sender_avatar_url", offsetof(struct vcs_event, sender_avatar_url)},
	{"sender_url", offsetof(struct vcs_event, sender_url)},
};

static char **text_at(const struct vcs_event *event, size_t i)
{
	return (char **)((char *)event + texts[i].offset);
}

enum vcs_event_kind vcs_event_kind_of(const char *name)
{
	enum vcs_event_kind kind = 0;

	while (kind < VCS_EVENT_KINDS && !text_equal(vcs_event_names[kind], name))
		kind++;
	return kind;
}

bool vcs_event_is_pr(const struct vcs_event *event)
{
	return event->kind == VCS_PR_OPEN || event->kind == VCS_PR_UPDATE || event->kind == VCS_PR_CLOSE;
}

void vcs_event_release(struct vcs_event *event)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		free(*text_at(event, i));
	free(event->ref);
	free(event->before);
	free(event->sha);
	json_decref(event->files);
	*event = (struct vcs_event)VCS_EVENT_INIT;
}

json_t *vcs_event_detail(const struct vcs_event *event)
{
	json_t *detail = mem_check(json_object());

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *text = text_or_empty(*text_at(event, i));

		if (*text)
			json_object_set_new(detail, texts[i].name, json_string(text));
	}
	if (vcs_event_is_pr(event))
		json_object_set_new(detail, "fork", json_string(forks[event->fork]));
	if (event->draft)
		json_object_set_new(detail, "draft", json_true());
	if (event->base_changed)
		json_object_set_new(detail, "base_changed", json_true());
	if (event->rerun)
		json_object_set_new(detail, "rerun", json_true());
	if (event->is_new)
		json_object_set_new(detail, "is_new", json_true());
	if (event->changed_at)
		json_object_set_new(detail, "changed_at", json_integer(event->changed_at));
	if (event->installation)
		json_object_set_new(detail, "installation", json_integer(event->installation));
	if (event->removed)
		json_object_set_new(detail, "removed", json_true());
	return detail;
}

void vcs_event_from_detail(struct vcs_event *event, const json_t *detail)
{
	const char *fork = json_string_at(detail, "fork");

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char **text = text_at(event, i);

		free(*text);
		*text = mem_text(text_or_empty(json_string_at(detail, texts[i].name)));
	}
	event->fork = VCS_FORK_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(forks); i++) {
		if (text_equal(forks[i], fork))
			event->fork = (enum vcs_fork)i;
	}
	event->draft = json_bool_at(detail, "draft", false);
	event->base_changed = json_bool_at(detail, "base_changed", false);
	event->rerun = json_bool_at(detail, "rerun", false);
	event->is_new = json_bool_at(detail, "is_new", false);
	event->changed_at = json_int_at(detail, "changed_at", 0);
	event->installation = json_int_at(detail, "installation", 0);
	event->removed = json_bool_at(detail, "removed", false);
}

void vcs_events_release(struct vcs_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		vcs_event_release(&events->items[i]);
	free(events->items);
	*events = (struct vcs_events)VCS_EVENTS_INIT;
}
