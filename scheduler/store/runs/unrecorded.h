/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_UNRECORDED_H
#define SCHEDULER_STORE_RUNS_UNRECORDED_H

/*
 * Unrecorded resources: resources that the engine of an apply reported as created, changed or destroyed, but that are
 * not in its last state (common/terraform/applied.h). The workspace stays held while one of them is open, that is until
 * a user dismisses it. The apply's worker sends the list. If the worker is lost, the scheduler compares its log of the
 * apply with the workspace's state. The worker's list replaces the scheduler's when it arrives.
 */

#include "scheduler/store/store.h"

struct objects;
struct unrecorded_row;

struct unrecorded_job {
	const char *job_id, *run_id, *workspace_id;
};

/* Replaces the job's open resources: [{action, address, type, provider, id}]. Dismissed ones are unchanged. The run
 * gets an event if one is new. Resources with an invalid action or address are skipped, as are those beyond
 * APPLIED_MISSING_MAX. */
int unrecorded_put(struct store *store, const struct unrecorded_job *job, const json_t *resources, struct err *err);
/* True if the job has an open resource. */
int unrecorded_is_open(struct store *store, const char *job_id, bool *ret_open, struct err *err);
/* At most `max` lost applies whose reports have not been compared yet: unrecorded_due_row. */
int unrecorded_due(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* Compares the apply's log with the workspace's state, and stores missing resources unless the worker's list has
 * arrived. May block on the object store. */
int unrecorded_compare(struct store *store, struct objects *objects, const struct unrecorded_job *job, struct err *err);
/* Marks the job as compared, if its log can't be compared. */
int unrecorded_give_up(struct store *store, const struct unrecorded_job *job, struct err *err);

/* Rows are unrecorded_row. */
int unrecorded_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int unrecorded_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The resource's id at its provider, "" if unknown. */
int unrecorded_resource_id(
	struct store *store, const struct unrecorded_row *resource, struct buf *ret_text, struct err *err);

struct dismissal {
	const char *run_id, *actor;
	const char *ids; /* of the resources, separated by spaces; NULL: all of the run */
};
/* Dismisses open resources. ret_rows: the holds that this ends, unrecorded_released_row. The caller releases them
 * (runs/holds.h). ERR_CONFLICT if no such resource is open. */
int unrecorded_dismiss(struct store *store, const struct dismissal *dismissal, struct rows *ret_rows, struct err *err);

#endif
