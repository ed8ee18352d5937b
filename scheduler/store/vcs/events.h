/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_H
#define SCHEDULER_STORE_VCS_EVENTS_H

/*
 * Events of repositories (vcs_events). Requests, deliveries of hooks and looks make events. The VCS thread
 * (background/vcs/events.h) makes configuration versions and runs of them.
 *
 * The states of an event:
 *
 *  - waiting    The VCS thread has to decide it.
 *  - looking    It waits for a look at the repository, because the repository may have a newer commit.
 *  - comparing  It waits for the list of changed files.
 *  - approval   A user has to approve the head of a fork.
 *  - done       Its outcomes stand in vcs_outcomes.
 *
 * Beside the members of struct vcs_event, `detail` may have: subject, actor, again (struct vcs_request), and looked (a
 * look has confirmed that the event has the newest commit).
 */

#include "scheduler/store/vcs/events.sql.h"
#include "scheduler/store/vcs/events/wake.h"
#include "scheduler/vcs/event.h"

/* A request for a commit in one workspace or policy set. Texts are borrowed. */
struct vcs_request {
	const char *repository_id;
	const char *subject_id; /* a workspace or a policy set */
	const char *actor;      /* user id, or NULL */
	const char *sha;        /* NULL: the head of its branch, which is looked up first */
	bool again;             /* makes a run even if the commit had one, or if the workspace never had a run */
};
/*
 * Adds an event of the kind push for the subject alone, for example after a workspace was connected to a repository or
 * to another branch. The head becomes the workspace's configuration, and makes a run if the workspace queues all runs.
 * Wakes the VCS threads.
 */
int vcs_event_request(struct store *store, const struct vcs_request *request, struct id *ret_id, struct err *err);

/* The origin of events. */
struct vcs_origin {
	const char *repository_id;
	const char *found_by; /* webhook, poll, request */
	long long delivery;   /* of a webhook; 0: none */
};
/* Adds events that wait, in their order. */
int vcs_events_insert(struct store *store, const struct vcs_origin *origin, const struct vcs_event *events,
	size_t count, struct err *err);
/* The same for events of several origins: appends their rows to a JSON array, and stores all rows of such an array by
 * one statement. The caller bounds the array. */
void vcs_event_rows_add(json_t *rows, const struct vcs_origin *origin, const struct vcs_event *events, size_t count);
int vcs_event_rows_insert(struct store *store, const json_t *rows, struct err *err);

/* Adds an event that is done and only has a message for users. */
struct vcs_told {
	const char *repository_id;
	const char *found_by;
	long long delivery; /* of a webhook; 0: none */
	enum vcs_event_kind kind;
	bool is_error;
	const char *message;
};
int vcs_event_tell(struct store *store, const struct vcs_told *told, struct err *err);
/* The same for a delivery that can't be read. */
int vcs_event_unreadable(
	struct store *store, const char *repository_id, long long delivery, const char *why, struct err *err);

/* Reads the next turns of repositories that have events to decide, at most `max`: rows
 * `vcs_event_turns`. */
int vcs_event_turns(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* One of them. Borrowed. */
struct vcs_turn {
	const char *repository_id, *organization_id;
};
/*
 * Locks the repository if no other transaction has locked it, and reads the first of its events that are due. In a
 * transaction. One row `vcs_event_pick`, or none.
 */
int vcs_event_pick(struct store *store, const struct vcs_turn *turn, struct rows *ret_rows, struct err *err);
/* The event's members from such a row. */
void vcs_event_of_row(const struct vcs_event_pick_row *row, struct vcs_event *ret_event);

/* Lets the event wait for a look (vcs_look_now), or for the changed files, with a git job. */
int vcs_event_look(struct store *store, const char *id, const char *repository_id, struct err *err);
int vcs_event_compare(struct store *store, const char *id, struct err *err);
/* Lets the event wait to be decided, after the look of a request, or after a look that confirmed the event's commit.
 * ref and sha are NULL if they stay. Removes the members of an earlier commit from the detail. */
int vcs_event_looked(struct store *store, const char *id, const char *ref, const char *sha, struct err *err);
/* Stores the changed files, a JSON array, or NULL and a note. Lets the event wait to be decided. */
int vcs_event_compared(struct store *store, const char *id, const char *files, const char *note, struct err *err);
/* Ends it, or lets it wait for an approval. */
struct vcs_end {
	const char *id, *message;
	bool is_error, approval;
};
int vcs_event_end(struct store *store, const struct vcs_end *end, struct err *err);
/* Lets the event wait for the next look, because this one failed. */
int vcs_event_unanswered(struct store *store, const char *id, const char *why, struct err *err);
/* Decides it again later, after a failure. */
int vcs_event_postpone(struct store *store, const char *id, const char *why, struct err *err);
/* Reads and locks the events that waited for a look when the look began, the oldest first. Leaves out events that wait
 * for their commit's hash. Rows `vcs_events_looking`. */
int vcs_events_looking(
	struct store *store, const char *repository_id, const char *began, struct rows *ret_rows, struct err *err);

/* Milliseconds until the next event, delivery, look or read of pull requests is due; -1: none. */
int vcs_next_due(struct store *store, long long *ret_ms, struct err *err);
/* Deletes deliveries and events that are older than 30 days, in batches. */
int vcs_events_expire(struct store *store, struct err *err);

#endif
