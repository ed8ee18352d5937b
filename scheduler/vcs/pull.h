/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_PULL_H
#define SCHEDULER_VCS_PULL_H

/*
 * Compares pull requests from a provider's API (the operation `pull` in common/vcs/operations.def) with those in the
 * database. A difference becomes the event that the provider's hook would have sent. Pure.
 */

#include "scheduler/vcs/event.h"

/* A pull request in the database. Borrowed. */
struct vcs_known_pull {
	const char *head_sha; /* may be the first digits only; NULL: the pull request is not known */
	bool open;
	const json_t *detail; /* of vcs_event_detail */
};

/* Fills *ret_event, which must be VCS_EVENT_INIT. The caller releases it in any case. False if a member is not valid.
 */
bool vcs_pull_read(const json_t *pull, struct vcs_event *ret_event);
/* Completes the event of vcs_pull_read from the known pull request. False if there is no difference for which the
 * provider's hook would send an event. */
bool vcs_pull_compare(const struct vcs_known_pull *known, bool open, struct vcs_event *event);

#endif
