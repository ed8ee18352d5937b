/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_VCS_H
#define SCHEDULER_BACKGROUND_VCS_H

/*
 * The thread for runs from commits: reads deliveries, decides events, has repositories looked at when that is due,
 * archives contents that no run needs, and deletes old events. It sleeps until the next of these is due, or until a
 * transaction notifies it (vcs_wake). Every replica runs one: their locks share the work.
 */

#include "scheduler/store/store.h"

struct vcs_thread;

struct vcs_thread_spec {
	struct store store; /* the thread's own copy, except for the connection */
	const char *database_url;
};

int vcs_thread_start(const struct vcs_thread_spec *spec, struct vcs_thread **ret_vcs, struct err *err);
void vcs_thread_stop(struct vcs_thread *vcs);

#endif
