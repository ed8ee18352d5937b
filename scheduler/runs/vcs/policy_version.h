/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_POLICY_VERSION_H
#define SCHEDULER_RUNS_VCS_POLICY_VERSION_H

#include "scheduler/store/store.h"

/*
 * Creates the first version of a newly connected policy set, from the head that the provider's API returned. The event
 * waits for a look (vcs_event_request). If the look finds the same head, the event keeps this version. Otherwise it
 * creates a version of the newer head. In a transaction.
 */
int vcs_policy_version_begin(
	struct store *store, const char *event_id, const char *policy_set_id, const char *sha, struct err *err);

#endif
