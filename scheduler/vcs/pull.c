/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/pull.h"

#include "common/err.h"
#include "common/vcs/ref.h"
#include "scheduler/vcs/payload_reader.h"

static const struct payload_field fields[] = {
	PAYLOAD_FIELD(ref, HEAD, "head"),
	PAYLOAD_FIELD(base, BASE, "base"),
	PAYLOAD_FIELD(sha, COMMIT, "head_sha"),
	PAYLOAD_FIELD(title, LINE, "title"),
	PAYLOAD_FIELD(pull_request_url, URL, "url"),
	PAYLOAD_FIELD(sender, LINE, "sender"),
	PAYLOAD_FIELD(number, NUMBER, "number"),
	PAYLOAD_FIELD(draft, FLAG, "draft"),
	PAYLOAD_END,
};

bool vcs_pull_read(const json_t *pull, struct vcs_event *ret_event)
{
	struct err ignored = ERR_INIT;
	struct payload reader = {.body = pull, .err = &ignored};
	struct vcs_event *event = payload_add(&reader, VCS_PR_UPDATE);
	const char *prefix = json_string_at(pull, "head_prefix");

	payload_fill(&reader, event, pull, fields);
	if (!*event->sha && payload_is_prefix(prefix))
		payload_set(&event->short_sha, prefix);
	/* The member is absent if the fork was deleted. */
	event->fork = json_bool_at(pull, "fork", true) ? VCS_FORK_YES : VCS_FORK_NO;
	*ret_event = *event;
	free(reader.events.items);
	return !reader.failed;
}

/* False if the API returned no head. */
static bool head_differs(const struct vcs_known_pull *known, const struct vcs_event *event)
{
	if (*event->sha)
		return !text_starts(event->sha, known->head_sha);
	return *event->short_sha && !text_starts(known->head_sha, event->short_sha);
}

bool vcs_pull_compare(const struct vcs_known_pull *known, bool open, struct vcs_event *event)
{
	const char *base = json_string_at(known->detail, "base");
	bool has_head, differs;

	event->changed_at = json_int_at(known->detail, "changed_at", 0);
	if (!known->head_sha) {
		event->kind = VCS_PR_OPEN;
		event->is_new = true;
		return open;
	}
	has_head = vcs_sha_valid(known->head_sha);
	differs = head_differs(known, event);
	if (!*event->sha && !differs && has_head)
		payload_set(&event->sha, known->head_sha);
	if (!open) {
		event->kind = VCS_PR_CLOSE;
		return known->open;
	}
	if (differs && has_head)
		payload_set(&event->before, known->head_sha);
	event->base_changed = base && !text_equal(base, event->base);
	event->kind =
		!known->open || event->base_changed || (json_bool_at(known->detail, "draft", false) && !event->draft)
		? VCS_PR_OPEN
		: VCS_PR_UPDATE;
	return event->kind == VCS_PR_OPEN || differs;
}
