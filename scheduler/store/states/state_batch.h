/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATE_BATCH_H
#define SCHEDULER_STORE_STATES_STATE_BATCH_H

/* Writes state versions with one statement per table. The caller holds locks on their workspaces. */

#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_parse.h"

/* A state version with the data of its file. All is borrowed. */
struct state_row {
	const char *id;
	bool fills; /* the row exists: replace its content, but not its origin */
	long long serial;
	const char *lineage, *md5;
	const char *status;
	bool intermediate, recovered;
	const char *rollback_id;
	const char *workspace_id, *run_id, *job_id, *created_by;
	const char *created_at; /* NULL: now */
	bool current;           /* make it the workspace's current state */
	bool base;              /* differences to it will follow (store/states/state_bases.h) */
	const struct state_facts *facts;
	const void *bytes;
	size_t len;
};

enum { STATE_COLUMNS = 17, OUTPUT_COLUMNS = 6, CURRENT_COLUMNS = 3 };

struct state_batch {
	struct db_array rows[STATE_COLUMNS], outputs[OUTPUT_COLUMNS], current[CURRENT_COLUMNS];
	struct db_array filled;
	struct db_bytes output_values;
	struct blob_batch blobs;
	struct state_base_batch bases;
};

void state_batch_init(struct state_batch *batch);
int state_add(struct state_batch *batch, struct store *store, const struct state_row *row, struct err *err);
int states_insert(struct state_batch *batch, struct store *store, struct err *err);
void state_batch_release(struct state_batch *batch);

#endif
