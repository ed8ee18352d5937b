/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_settle.h"

#include "common/log.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_batch.h"
#include "scheduler/store/states/state_parse.h"

enum { STATE_LIMIT = 1 << 30 };

struct settling {
	struct store *store;
	const char *state_id;
};

/* Locks the workspace and reads the state version. No row: the state is whole already, or its job has not ended. */
static int settling_read(const struct settling *s, struct rows *ret_rows, struct err *err)
{
	if (db_query(s->store->db, NULL, err,
		    "select 1 from workspaces where id = (select workspace_id from state_versions where id = $1) "
		    "for no key update",
		    P_TEXT(s->state_id)) < 0)
		return -1;
	return db_query(s->store->db, ret_rows, err,
		STATE_CONTENT_SELECT ", s.status, s.recovered, s.rollback_id, "
				     "s.workspace_id, s.run_id, s.job_id, s.created_by, s.created_at::text as at, "
				     "w.current_state_id = s.id as current from state_versions s "
				     "join workspaces w on w.id = s.workspace_id " STATE_CONTENT_JOIN
				     "where s.id = $1 and not s.intermediate and x.blob_id is not null",
		P_TEXT(s->state_id));
}

static int whole_write(const struct settling *s, const struct rows *rows, const struct buf *content,
	const struct state_facts *facts, struct err *err)
{
	struct state_batch batch;
	char md5[33];
	const struct state_row row = {.id = s->state_id,
		.fills = true,
		.serial = facts->serial,
		.lineage = facts->lineage,
		.md5 = md5,
		.status = row_text(rows, 0, "status"),
		.recovered = row_bool(rows, 0, "recovered"),
		.rollback_id = row_text(rows, 0, "rollback_id"),
		.workspace_id = row_text(rows, 0, "workspace_id"),
		.run_id = row_text(rows, 0, "run_id"),
		.job_id = row_text(rows, 0, "job_id"),
		.created_by = row_text(rows, 0, "created_by"),
		.created_at = row_text(rows, 0, "at"),
		.current = row_bool(rows, 0, "current"),
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
	struct state_facts facts;
	int result;

	if (settling_read(s, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (state_content_of_row(s->store, &rows, 0, &content, err) < 0 ||
		state_parse(content.data, content.len, &facts, err) < 0)
		return -1;
	result = whole_write(s, &rows, &content, &facts, err);
	state_facts_release(&facts);
	return result;
}

static int settle_later(struct store *store, const char *state_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update state_bases set look_at = now() + interval '10 minutes' where state_version_id = $1",
		P_TEXT(state_id));
}

int state_settle_due(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows due = ROWS_INIT;

	if (db_query(store->db, &due, err,
		    "select s.id from state_bases x join state_versions s on s.id = x.state_version_id "
		    "where not s.intermediate and x.look_at <= now() order by x.look_at limit $1",
		    P_INT(SETTLE_MAX)) < 0)
		return -1;
	*ret_count = due.count;
	for (int i = 0; i < due.count; i++) {
		struct settling s = {store, row_text(&due, i, "id")};
		struct err own = ERR_INIT;

		if (db_transaction(store->db, settle_in, &s, &own) == 0)
			continue;
		log_error("the last state of an apply can't be read", "state", s.state_id, "error", own.message, NULL);
		if (settle_later(store, s.state_id, err) < 0)
			return -1;
	}
	return 0;
}
