/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_H
#define SCHEDULER_STORE_STATES_H

/*
 * State versions. State is never lost and never goes back (DESIGN rule 7): a state is accepted with the same lineage
 * as the current one and a serial that is not behind; under the same serial only from the same job, or with the same
 * content. An accepted state is the workspace's current one at once, in the caller's transaction. What a worker sends
 * and can't be the current one is kept beside: a row with the status kept_beside, which is never the current one,
 * stands in lists only if it is asked for, and can be downloaded and rolled back to (lifecycle/state_order.h says
 * which).
 *
 * A job has one row, and perhaps one beside: each later state of the same attempt takes the place of the one before.
 */

#include "scheduler/store/store.h"

/* What a client says its state is; a file's own serial and lineage may differ (API 2.8). */
struct state_label {
	long long serial;
	const char *lineage; /* NULL: the file's */
	const char *md5;     /* checked against the content */
};

struct state_offer {
	const char *workspace_id;
	const char *run_id;     /* or NULL */
	const char *job_id;     /* of the attempt that writes it; NULL: it came through the API */
	const char *created_by; /* user id, or NULL */
	const void *bytes;      /* the state file as terraform wrote it */
	size_t len;
	bool intermediate;               /* more may follow from this attempt */
	bool late;                       /* it came after the attempt had ended: the workspace may have gone on since */
	bool force;                      /* another lineage or a lower serial is let in (API only) */
	const struct state_label *label; /* NULL: as the file says */
	const char *rollback_id;         /* the state version that it was made from, or NULL */
	const char *pending_id;          /* the pending state version that this is the content of, or NULL */
};

struct state_accepted {
	struct id id;
	long long serial;
	const char *beside; /* why it was kept beside, for people; NULL: it is the current one */
};

/* ERR_INVALID: no state of version 4, or not the one that was announced. ERR_CONFLICT: lineage or serial (clients').
 * ret_accepted may be NULL. */
int state_accept(
	struct store *store, const struct state_offer *offer, struct state_accepted *ret_accepted, struct err *err);
/* The content of the workspace's current state, appended. 0 with nothing appended if there is none. */
int state_current(struct store *store, const char *workspace_id, struct buf *out, struct err *err);

/* Announces a state whose content comes later. An older pending one is discarded. ERR_CONFLICT as state_accept: whoever
 * waits for a state that will not be taken would wait for ever. */
int state_announce(struct store *store, const struct state_offer *offer, struct id *ret_id, struct err *err);

/* Keeps the same state in terraform's JSON form. ERR_INVALID if it is no JSON; ERR_CONFLICT if there is one, or the
 * state version has no content and waits for none. */
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
