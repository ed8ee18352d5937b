/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_POLICY_VERSION_H
#define SCHEDULER_RUNS_VCS_POLICY_VERSION_H

#include "scheduler/store/store.h"

/*
 * Creates the version of a policy set that was just connected, for the head that the provider has told. The event waits
 * for a look (vcs_event_request): if the look finds the same head, the event keeps this version, else it makes one of
 * the newer head. In a transaction.
 */
int vcs_policy_version_begin(
	struct store *store, const char *event_id, const char *policy_set_id, const char *sha, struct err *err);

#endif
