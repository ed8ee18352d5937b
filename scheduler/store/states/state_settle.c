/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_settle.h"

#include "common/log.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_batch.h"
#include "scheduler/store/states/state_parse.h"
#include "scheduler/store/states/state_settle.sql.h"

enum { STATE_LIMIT = 1 << 30 };

struct settling {
	struct store *store;
	const char *state_id;
};

/* Locks the workspace and reads the state version. No row: the state is whole already, or its job has not ended. */
static int settling_read(const struct settling *s, struct rows *ret_rows, struct err *err)
{
	if (db_query(s->store->db, NULL, err, state_settle_lock, .state_id = s->state_id) < 0)
		return -1;
	return db_query(s->store->db, ret_rows, err, state_settle_read, .state_id = s->state_id, .most = INT64_MAX);
}

static int whole_write(const struct settling *s, const struct state_settle_read_row *old, const struct buf *content,
	const struct state_facts *facts, struct err *err)
{
	struct state_batch batch;
	char md5[33];
	const struct state_row row = {.id = s->state_id,
		.fills = true,
		.serial = facts->serial,
		.lineage = facts->lineage,
		.md5 = md5,
		.status = old->status,
		.recovered = old->recovered,
		.rollback_id = old->rollback_id,
		.workspace_id = old->workspace_id,
		.run_id = old->run_id,
		.job_id = old->job_id,
		.created_by = old->created_by,
		.created_at = old->at,
		.current = old->current,
		.facts = facts,
		.bytes = buf_str(content),
		.len = content->len};
	int result;

	crypto_md5_hex(row.bytes, row.len, md5);
	state_batch_init(&batch);
	result = state_add(&batch, s->store, &row, err);
	if (result == 0)
		result = states_insert(&batch, s->store, err);
	state_batch_release(&batch);
	return result;
}

static int settle_in(void *data, struct err *err)
{
	const struct settling *s = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf content = BUF_INIT(STATE_LIMIT);
	const struct state_settle_read_row *row;
	struct sealed_state sealed;
	struct state_facts facts;
	int result;

	if (settling_read(s, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	row = row_of(state_settle_read, &rows, 0);
	sealed = (struct sealed_state){.id = row->state_id,
		.blob = {row->blob_id, row->object_key, row->sealed, NULL},
		.base_id = row->base_id,
		.difference = row->difference_sealed};
	if (sealed_state_open(s->store, &sealed, &content, err) < 0 ||
		state_parse(content.data, content.len, &facts, err) < 0)
		return -1;
	result = whole_write(s, row, &content, &facts, err);
	state_facts_release(&facts);
	return result;
}

static int settle_later(struct store *store, const char *state_id, struct err *err)
{
	return db_query(store->db, NULL, err, state_settle_later, .state_id = state_id);
}

int state_settle_due(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows due = ROWS_INIT;

	if (db_query(store->db, &due, err, state_settle_due, .max = SETTLE_MAX) < 0)
		return -1;
	*ret_count = due.count;
	for (int i = 0; i < due.count; i++) {
		struct settling s = {store, row_of(state_settle_due, &due, i)->id};
		struct err own = ERR_INIT;

		if (db_transaction(store->db, settle_in, &s, &own) == 0)
			continue;
		log_error("the last state of an apply can't be read", "state", s.state_id, "error", own.message, NULL);
		if (settle_later(store, s.state_id, err) < 0)
			return -1;
	}
	return 0;
}
