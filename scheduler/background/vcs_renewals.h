/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_VCS_RENEWALS_H
#define SCHEDULER_BACKGROUND_VCS_RENEWALS_H

/*
 * Renews the tokens of VCS providers before they expire (auth/vcs/renewals.h), in a thread of its own, since it waits
 * for the providers. It sleeps until the next token is due, or another scheduler announces one.
 */

#include "scheduler/store/store.h"

struct vcs_renewals;

/* The store's connection is not used: the thread has its own. */
int vcs_renewals_start(
	const struct store *store, const char *database_url, struct vcs_renewals **ret_renewals, struct err *err);
/* Waits for the request that runs, for at most 10 s. NULL-safe. */
void vcs_renewals_stop(struct vcs_renewals *renewals);

#endif
