/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATES_H
#define SCHEDULER_STORE_STATES_STATES_H

/* Read access to state versions; store/states/state_writes.h writes them. A state version with the status detached
 * is never the workspace's current one. Lists include it only on request. */

#include "scheduler/store/states/states.sql.h"
#include "scheduler/store/store.h"

/* Stores the same state in terraform's JSON format. ERR_INVALID if it is no JSON object. ERR_CONFLICT if it has been
 * stored already, if the state version neither has content nor is pending, or if the state version's creator does not
 * hold the workspace's lock. */
int state_json_put(struct store *store, const char *id, const void *bytes, size_t len, struct err *err);

/* A row `state`. ERR_NOT_FOUND. */
int state_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int states_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The same of the workspace's current state. No row if it has none. */
int state_read_current(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);

/* The `id` of the last state of an errored run that arrived after its apply had ended, or is detached.
 * ERR_NOT_FOUND. */
int state_recovered(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);

struct state_list {
	const char *workspace_id;
	const char *status; /* NULL: all but detached */
	long long limit, offset;
};
/* The newest first, with `total`; a row with a null id if the page is empty. */
int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err);

/* Rows `state_output`, sorted by name. */
int state_outputs(struct store *store, const char *state_id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int state_outputs_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The outputs of many state versions. */
int outputs_of_states(struct store *store, struct db_array *state_ids, struct rows *ret_rows, struct err *err);
/* One output, with workspace_id. ERR_NOT_FOUND. */
int state_output_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* An output's value; a new reference. */
int state_output_value(struct store *store, const struct state_output_row *output, json_t **ret_value, struct err *err);

#endif
