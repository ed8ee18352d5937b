/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/reruns.h"

#include <stdio.h>

#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/events/refs.sql.h"

enum { MESSAGE_SIZE = 128 };

static void text_replace(char **text, const char *by)
{
	free(*text);
	*text = mem_text(text_or_empty(by));
}

/* Fills the event of one pull request from its row. The sender is the user who requested the check run. */
static void event_fill(
	const struct vcs_decision *d, const struct vcs_pull_requests_of_head_row *row, struct vcs_event *event)
{
	json_auto_t *detail = json_shown(row->detail);

	vcs_event_from_detail(event, detail);
	event->kind = VCS_PR_UPDATE;
	event->rerun = true;
	event->is_new = event->base_changed = false;
	event->number = row->number;
	text_replace(&event->ref, json_string_at(detail, "ref"));
	text_replace(&event->before, NULL);
	text_replace(&event->sha, d->event.sha);
	text_replace(&event->sender, d->event.sender);
	text_replace(&event->sender_avatar_url, d->event.sender_avatar_url);
	text_replace(&event->sender_url, d->event.sender_url);
}

static int events_make(const struct vcs_decision *d, const struct rows *rows, struct err *err)
{
	const struct vcs_origin origin = {.repository_id = d->repository_id, .found_by = "webhook"};
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;

	events.items = mem_new((size_t)rows->count + 1, sizeof(*events.items));
	for (int row = 0; row < rows->count; row++)
		event_fill(d, row_of(vcs_pull_requests_of_head, rows, row), &events.items[events.count++]);
	return vcs_events_insert(d->store, &origin, events.items, events.count, err);
}

int vcs_rerun_decide(struct vcs_decision *d, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char message[MESSAGE_SIZE];
	const struct vcs_end end = {.id = d->id, .message = message};

	if (vcs_pull_requests_of_head(d->store, d->repository_id, d->event.sha, &rows, err) < 0 ||
		events_make(d, &rows, err) < 0)
		return -1;
	if (rows.count)
		snprintf(message, sizeof(message), "The head of %d pull request%s is planned again.", rows.count,
			rows.count == 1 ? "" : "s");
	else
		snprintf(message, sizeof(message),
			"No open pull request has this head. Commits of branches are run again by users of this site.");
	return vcs_event_end(d->store, &end, err);
}
