/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_KEYS_H
#define SCHEDULER_STORE_KEYS_H

/*
 * The keys that a database is sealed with, and what a scheduler does with rows of a key that it lacks.
 *
 * While keys are rotated, schedulers differ in their keys for a moment. A scheduler hands out only work whose secrets
 * it can open; it leaves other work to the schedulers that can.
 */

#include "scheduler/store/store.h"

/* Checks each key of the keyring against the key that the database knows by that number, and makes new keys known.
 * ERR_INVALID if one is another key. A key that is new to the table is checked against the oldest rows that are sealed
 * with its number. */
int keys_check(struct store *store, struct err *err);

/* The numbers of the keyring's keys as they stand in sealed columns, for the macros below: P_BYTES_ARRAY(ret). */
void keys_numbers(const struct store *store, struct db_bytes *ret_numbers);

/* SQL: true if a sealed column (a bytea; null is false or null) needs a key that is not in the parameter `keys`. */
#define KEY_IS_MISSING(column, keys) "substring(" column " from 1 for 4) <> all (" keys "::bytea[]) "

/* SQL: true if `job` (an alias of jobs) needs such a key to be handed out. Both columns of run_inputs are sealed at one
 * time with one key. */
#define JOB_KEY_IS_MISSING(job, keys)                                                                                  \
	"exists (select 1 from run_inputs ki join workspaces kw on kw.id = " job                                       \
	".workspace_id left join ssh_keys ks on ks.id = kw.ssh_key_id where ki.run_id = " job                          \
	".run_id and (" KEY_IS_MISSING("ki.snapshot_sealed", keys) "or " KEY_IS_MISSING("ks.value_sealed", keys) ")) "

/* Reports the jobs that have waited here for half a minute because of a missing key, although their pools have free
 * slots: a log line, a metric, and an event of each run, once. */
int keys_report_waiting(struct store *store, struct err *err);

#endif
