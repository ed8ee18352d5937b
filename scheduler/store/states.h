/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_H
#define SCHEDULER_STORE_STATES_H

/*
 * State versions. State is never lost and never goes back (DESIGN rule 7): a state is accepted with the same lineage
 * as the current one and a serial that is not behind; under the same serial only from the same job, or with the same
 * content. An accepted state is the workspace's current one at once, in the caller's transaction.
 *
 * A job has one row: each later state of the same attempt takes the place of the one before.
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
	bool recovered;                  /* it came after the attempt had ended */
	bool force;                      /* another lineage or a lower serial is let in (API only) */
	const struct state_label *label; /* NULL: as the file says */
	const char *pending_id;          /* the pending state version that this is the content of, or NULL */
};

struct state_accepted {
	struct id id;
	long long serial;
};

/* ERR_INVALID: no state of version 4, or not the one that was announced. ERR_CONFLICT: lineage or serial.
 * ret_accepted may be NULL. */
int state_accept(
	struct store *store, const struct state_offer *offer, struct state_accepted *ret_accepted, struct err *err);
/* The content of the workspace's current state, appended. 0 with nothing appended if there is none. */
int state_current(struct store *store, const char *workspace_id, struct buf *out, struct err *err);

/* Announces a state whose content comes later. An older pending one is discarded. */
int state_announce(struct store *store, const struct state_offer *offer, struct id *ret_id, struct err *err);

/* The table's columns and output_ids (a JSON array of ids). ERR_NOT_FOUND. */
int state_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

struct state_list {
	const char *workspace_id;
	const char *status; /* or NULL */
	long long limit, offset;
};
/* The newest first, and `total`; a row with a null id if the page is empty. */
int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err);

/* Columns id, state_version_id, name, sensitive, type, detailed_type, value_sealed; by name. */
int state_outputs(struct store *store, const char *state_id, struct rows *ret_rows, struct err *err);
/* One of them, with workspace_id. ERR_NOT_FOUND. */
int state_output_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* An output's value; a new reference. */
int state_output_value(struct store *store, const struct rows *rows, int row, json_t **ret_value, struct err *err);

#endif
