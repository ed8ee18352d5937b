/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_H
#define SCHEDULER_STORE_STATES_H

/* State versions, as they are read (store/state_offers.h: as they are written). One that is kept beside the workspace's
 * is never the current one, and stands in lists only if it is asked for. */

#include "scheduler/store/store.h"

/* Keeps the same state in terraform's JSON form. ERR_INVALID if it is no JSON; ERR_CONFLICT if there is one, or the
 * state version has no content and waits for none, or its workspace is not locked by the state version's creator. */
int state_json_put(struct store *store, const char *id, const void *bytes, size_t len, struct err *err);

/* The table's columns and output_ids (a JSON array of ids). ERR_NOT_FOUND. */
int state_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int states_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* The `id` of the last state that came after its run's apply had ended in an error, or was kept beside. ERR_NOT_FOUND.
 */
int state_recovered(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);

struct state_list {
	const char *workspace_id;
	const char *status; /* NULL: all but those kept beside */
	long long limit, offset;
};
/* The newest first, and `total`; a row with a null id if the page is empty. */
int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err);

/* Columns id, state_version_id, name, sensitive, type, detailed_type, value_sealed; by name. */
int state_outputs(struct store *store, const char *state_id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int state_outputs_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The same of many state versions. */
int outputs_of_states(struct store *store, struct db_array *state_ids, struct rows *ret_rows, struct err *err);
/* One of them, with workspace_id. ERR_NOT_FOUND. */
int state_output_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* An output's value; a new reference. */
int state_output_value(struct store *store, const struct rows *rows, int row, json_t **ret_value, struct err *err);

#endif
