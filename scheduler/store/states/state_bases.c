/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_bases.h"

#include "common/log.h"
#include "scheduler/store/states/state_batch.h"
#include "scheduler/store/states/state_parse.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/content/blobs.h"

enum { STATE_LIMIT = 1 << 30, FRAME_LIMIT = DIFFERENCE_STATE_MAX + (1 << 20) };

static const char use[] = "base";

static char *difference_context(const char *state_id, const char *blob_id)
{
	return mem_printf("%s:%s", state_id, blob_id);
}

static struct bytes bytes_of(const struct buf *buf)
{
	return (struct bytes){buf_str(buf), buf->len};
}

/* ---- reading ---- */

static int base_read(struct store *store, const struct rows *rows, int row, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf frame = BUF_INIT(FRAME_LIMIT);

	if (blob_of_row_as(store, rows, row, use, &frame, err) < 0)
		return -1;
	return difference_apply((struct bytes){.len = 0}, bytes_of(&frame), out, err);
}

static int difference_read(
	struct store *store, const struct rows *rows, int row, const struct buf *base, struct buf *out, struct err *err)
{
	_cleanup_(freep) char *context =
		difference_context(row_text(rows, row, "state_id"), row_text(rows, row, "base_id"));
	_cleanup_(buf_release) struct buf frame = BUF_INIT(FRAME_LIMIT);

	if (seal_open(store, context, (struct sealed_column){rows, row, "difference_sealed"}, &frame, err) < 0)
		return -1;
	return difference_apply(bytes_of(base), bytes_of(&frame), out, err);
}

int state_content_of_row(struct store *store, const struct rows *rows, int row, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf base = BUF_INIT(DIFFERENCE_STATE_MAX);
	int result;

	if (row_null(rows, row, "base_id"))
		return blob_of_row(store, rows, row, out, err);
	if (row_null(rows, row, "difference_sealed"))
		result = base_read(store, rows, row, out, err);
	else
		result = base_read(store, rows, row, &base, err) < 0
			? -1
			: difference_read(store, rows, row, &base, out, err);
	/* Stored data is damaged: that is not the client's error. */
	if (result < 0 && err->kind == ERR_INVALID)
		err->kind = ERR_INTERNAL;
	return result;
}

int state_content(struct store *store, const char *state_id, struct buf *out, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    STATE_CONTENT_SELECT "from state_versions s " STATE_CONTENT_JOIN "where s.id = $1",
		    P_TEXT(state_id)) < 0)
		return -1;
	if (!rows.count || row_null(&rows, 0, "blob_id"))
		return err_set(err, ERR_NOT_FOUND, "the state version has no content");
	return state_content_of_row(store, &rows, 0, out, err);
}

/* ---- writing ---- */

void state_base_batch_release(struct state_base_batch *batch)
{
	for (size_t i = 0; i < ARRAY_LEN(batch->bases); i++)
		db_array_release(&batch->bases[i]);
	for (size_t i = 0; i < ARRAY_LEN(batch->differences); i++)
		db_array_release(&batch->differences[i]);
	db_bytes_release(&batch->sealed);
}

int state_base_add(struct state_base_batch *batch, struct blob_batch *blobs, struct store *store, const char *state_id,
	struct bytes state, struct id *ret_blob, struct err *err)
{
	_cleanup_(buf_release) struct buf frame = BUF_INIT(FRAME_LIMIT);
	char digest[SHA256_HEX_SIZE];

	if (difference_make(NULL, state, &frame, err) < 0 ||
		blob_add_as(blobs, store, use, bytes_of(&frame), ret_blob, err) < 0)
		return -1;
	crypto_sha256_hex(state.data, state.len, digest);
	db_array_add(&batch->bases[0], state_id);
	db_array_add(&batch->bases[1], ret_blob->text);
	db_array_add(&batch->bases[2], digest);
	return 0;
}

int state_difference_add(
	struct state_base_batch *batch, struct store *store, const struct state_difference_row *row, struct err *err)
{
	_cleanup_(freep) char *context = difference_context(row->state_id, row->blob_id);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(FRAME_LIMIT);

	if (keyring_seal(store->keyring, context, row->frame.data, row->frame.len, &sealed) < 0 ||
		db_bytes_add(&batch->sealed, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "the difference has more than %d bytes", FRAME_LIMIT);
	db_array_add(&batch->differences[0], row->state_id);
	db_array_add_int(&batch->differences[1], row->serial);
	db_array_add_int(&batch->differences[2], row->size);
	return 0;
}

/* Only the base's state has an MD5: computing it for each state would double the worker's costs. */
static int differences_write(struct state_base_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->differences;

	if (!c->count)
		return 0;
	return db_queue(store->db, err,
		"with u as (select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[]) "
		"as u(id, serial, size, sealed)), "
		"kept as (update state_bases x set difference_sealed = u.sealed from u where x.state_version_id = "
		"u.id) "
		"update state_versions s set serial = u.serial, size = u.size, md5 = '' from u where s.id = u.id",
		P_ARRAY(&c[0]), P_ARRAY(&c[1]), P_ARRAY(&c[2]), P_BYTES_ARRAY(&batch->sealed));
}

int state_bases_insert(struct state_base_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->bases;

	if (c->count &&
		db_queue(store->db, err,
			"insert into state_bases (state_version_id, blob_id, digest) "
			"select * from unnest($1::text[], $2::text[], $3::text[])",
			P_ARRAY(&c[0]), P_ARRAY(&c[1]), P_ARRAY(&c[2])) < 0)
		return -1;
	return differences_write(batch, store, err);
}

/* ---- after the end of a job ---- */

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

int state_bases_settle(struct store *store, long long *ret_count, struct err *err)
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
