/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_rollback.h"

#include "common/terraform/state_text.h"
#include "proto/limits.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_rollback.sql.h"
#include "scheduler/store/states/state_writes.h"

static const char pointer[] = "/data/relationships/rollback-state-version";

struct rollback {
	struct store *store;
	const struct state_rollback *request;
	struct id id;
};

/* Locks the workspace, so that no other state takes the serial before the commit. */
static int serial_next(const struct rollback *r, long long *ret_serial, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_serial_lock_row *row;

	if (db_query(r->store->db, &rows, err, state_serial_lock, .workspace_id = r->request->workspace_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	row = row_of(state_serial_lock, &rows, 0);
	*ret_serial = row->serial_null ? 0 : row->serial + 1;
	return 0;
}

static int content_read(const struct rollback *r, struct buf *content, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(r->store->db, &rows, err, state_rollback_find, .to_id = r->request->to_id,
		    .workspace_id = r->request->workspace_id) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer, "Rollback state version is not a state of this workspace");
	return state_content(r->store, row_of(state_rollback_find, &rows, 0)->id, content, err);
}

static int rollback_in(void *data, struct err *err)
{
	struct rollback *r = data;
	_cleanup_(buf_release) struct buf old = BUF_INIT(MAX_STATE_BYTES), content = BUF_INIT(MAX_STATE_BYTES);
	struct state_write write = {.workspace_id = r->request->workspace_id,
		.created_by = r->request->user_id,
		.rollback_id = r->request->to_id,
		.force = true};
	long long serial = 0;

	if (serial_next(r, &serial, err) < 0 || content_read(r, &old, err) < 0)
		return -1;
	if (state_renumber(buf_str(&old), old.len, serial, &content) < 0)
		return err_at(err, pointer, "Rollback state version has no serial");
	write.bytes = buf_str(&content);
	write.len = content.len;
	if (state_accept(r->store, &write, err) < 0)
		return -1;
	r->id = write.id;
	return 0;
}

int state_rollback(struct store *store, const struct state_rollback *rollback, struct id *ret_id, struct err *err)
{
	struct rollback r = {.store = store, .request = rollback};

	if (db_transaction(store->db, rollback_in, &r, err) < 0)
		return -1;
	*ret_id = r.id;
	return 0;
}
