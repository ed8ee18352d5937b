/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_PULL_H
#define SCHEDULER_VCS_PULL_H

/*
 * Pull requests as a provider's API lists them (the operation `pull` in common/vcs/operations.def), compared with what
 * is known of them. A difference is the event that the provider's hook would have sent. Pure.
 */

#include "scheduler/vcs/event.h"

/* What is known of a pull request. Borrowed. */
struct vcs_known_pull {
	const char *head_sha; /* NULL: the pull request is not known. It may be the beginning of the hash */
	bool open;
	const json_t *detail; /* of vcs_event_detail */
};

/* Fills *ret_event, which is VCS_EVENT_INIT and which the caller releases in any case. False if a member is not valid.
 */
bool vcs_pull_read(const json_t *pull, struct vcs_event *ret_event);
/* Completes the event of vcs_pull_read by what is known. False if no hook would tell of a difference. */
bool vcs_pull_compare(const struct vcs_known_pull *known, bool open, struct vcs_event *event);

#endif
