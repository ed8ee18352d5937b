/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_EVENT_READS_H
#define SCHEDULER_STORE_VCS_CALLS_EVENT_READS_H

/* The calls that event_asks.h creates. Their subject is the event's id. */

#include "scheduler/store/vcs/calls/call.h"

/* Prepare a claimed call. */
int vcs_commit_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
int vcs_files_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);

/* Apply an accepted answer, or a refusal (struct purpose_rows in runs/vcs/answers.c). */
int vcs_commit_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
int vcs_commit_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);
int vcs_files_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
int vcs_files_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
