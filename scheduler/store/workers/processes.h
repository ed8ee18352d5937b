/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_PROCESSES_H
#define SCHEDULER_STORE_WORKERS_PROCESSES_H

/* The processes of this installation and their versions (the view `processes`). Workers and notifiers are known by
 * their registrations, claims and heartbeats; schedulers report themselves. */

#include "scheduler/store/store.h"

/* Registers this scheduler, and later says that it is still there. Deletes the rows of schedulers that are long gone.
 */
int processes_beat(struct store *store, struct err *err);
/* This scheduler stops. */
int processes_leave(struct store *store, struct err *err);
/* Rows (kind, name, version, protocol, schema, seconds since it was seen, older) of processes that were seen within the
 * hour. older: it is of an earlier version than this program. */
int processes_list(struct store *store, struct rows *ret_rows, struct err *err);
/* ERR_CONFLICT that names the processes that are older. */
int processes_check_older(struct store *store, struct err *err);

#endif
