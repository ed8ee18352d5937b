/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_EPOCH_H
#define SCHEDULER_RUNS_EPOCH_H

/*
 * Failovers and restores of PostgreSQL. A connection to a server with an unknown history is refused (db/db.h) until
 * one scheduler has settled the history:
 *
 *  - If no commit can be lost (--database-replication sync), it records the new history and changes nothing else.
 *  - Otherwise it begins a new epoch, which fences every attempt that was claimed earlier: the claim and the start of
 *    an apply may be among the lost commits. Plans are tried again. A run whose apply was claimed or waited ends
 *    errored, and its workspace is held.
 *  - A worker may apply a run that only lost commits recorded. For one lease after the epoch began, claims hand out
 *    only jobs of plan-only runs (claim.c), so that the heartbeats of such workers arrive first. These heartbeats hold
 *    the workspace and end the run. Requests of such a worker before its heartbeat get 503, so that it sends them
 *    again.
 */

#include "scheduler/store/workers/workers.h"

/* ERR_INVALID if --database-replication is sync and commits do not wait for a standby. */
int epoch_check_replication(struct store *store, struct err *err);
/* Whether commits wait for a standby. */
int replication_is_durable(struct store *store, bool *ret_durable, struct err *err);
/* Settles the history of the current server over a connection of its own. Afterwards, connections to that server are
 * accepted. */
int epoch_settle(const struct store *store, const char *database_url, struct err *err);
/* Returns true if a heartbeat names an apply that the worker does not hold. `answered` is the answer of worker_beat. */
bool epoch_names_unknown(const struct worker_beat *beat, const json_t *answered);

/* Returns ERR_UNAVAILABLE during that lease, for a worker's request that a heartbeat may have to precede. Otherwise
 * returns 0, also if the query fails. */
int epoch_check_young(struct store *store, struct err *err);
/* Records the applies that a heartbeat names and that the database does not know. */
int epoch_hear_applies(struct store *store, const struct worker_beat *beat, struct err *err);
/* Begins an epoch regardless of the history, after an operator has restored the database. */
int epoch_begin(struct store *store, struct err *err);
/* After a restore from a backup, before the first start of a scheduler. Begins an epoch whose number is unique for each
 * restore: the larger of the old one plus 1 and Unix time. Ends all attempts and all runs that may have been applied
 * since the backup. Maintenance is on afterwards. Workers have to register again, their late states are stored
 * detached, and the workspaces stay held until a person releases them. *ret_list: the runs that may have been applied,
 * as {"workspace", "name", "organization", "run", "status" (in the backup), "ended"}; false: a saved plan, which can
 * still be applied. */
int epoch_restore(struct store *store, json_t **ret_list, struct err *err);
/* Records whether commits currently wait for a standby. A later failover is judged by that. */
int epoch_watch_replication(struct store *store, struct err *err);

#endif
