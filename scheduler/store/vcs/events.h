/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_H
#define SCHEDULER_STORE_VCS_EVENTS_H

/*
 * What happened in repositories (vcs_events): requests, deliveries of hooks and looks make events, and the VCS thread
 * (background/vcs.h) makes configuration versions and runs of them.
 *
 * The states of an event:
 *
 *  - waiting    The VCS thread has to decide it.
 *  - looking    It waits for a look at the repository, because it may be older than what is there.
 *  - comparing  It waits for the list of changed files.
 *  - approval   A user has to approve the head of a fork.
 *  - done       Its outcomes stand in vcs_outcomes.
 */

#include "scheduler/store/store.h"
#include "scheduler/vcs/event.h"

/* Wakes the VCS threads of all schedulers when the transaction has committed. */
int vcs_wake(struct store *store, struct err *err);

/* What a user asks of a commit of one workspace or policy set. Texts are borrowed. */
struct vcs_request {
	const char *repository_id;
	const char *subject_id; /* a workspace or a policy set */
	const char *actor;      /* user id, or NULL */
	const char *sha;        /* NULL: the head of its branch, which is looked up first */
	bool again;             /* a run, even if there was one for the commit, and even if it is the first one */
};
/*
 * Adds an event of the kind push for the subject alone. For example when a workspace was connected to a repository, or
 * follows another branch now: the head becomes its configuration, and it gets a run if it queues all runs. Wakes the
 * VCS threads.
 */
int vcs_event_request(struct store *store, const struct vcs_request *request, struct id *ret_id, struct err *err);

#endif
