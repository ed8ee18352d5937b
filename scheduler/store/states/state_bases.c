/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_bases.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/states/state_bases.sql.h"

#include <string.h>

enum { FRAME_LIMIT = DIFFERENCE_STATE_MAX + (1 << 20) };

static const char use[] = BLOB_USE_BASE;

static char *difference_context(const char *state_id, const char *blob_id)
{
	return mem_printf("%s:%s", state_id, blob_id);
}

/* ---- reading ---- */

static int base_read(struct store *store, const struct sealed_state *state, struct buf *out, struct err *err)
{
	const struct sealed_blob base = {state->blob.blob_id, state->blob.object_key, state->blob.sealed, use};
	_cleanup_(buf_release) struct buf frame = BUF_INIT(FRAME_LIMIT);

	if (blob_open(store, &base, &frame, err) < 0)
		return -1;
	return difference_apply((struct bytes){.len = 0}, buf_bytes(&frame), out, err);
}

static int difference_read(struct store *store, const struct sealed_state *state, struct buf *out, struct err *err)
{
	_cleanup_(freep) char *context = difference_context(state->id, state->base_id);
	_cleanup_(buf_release) struct buf base = BUF_INIT(DIFFERENCE_STATE_MAX), frame = BUF_INIT(FRAME_LIMIT);

	if (base_read(store, state, &base, err) < 0 || seal_open(store, context, state->difference, &frame, err) < 0)
		return -1;
	return difference_apply(buf_bytes(&base), buf_bytes(&frame), out, err);
}

int sealed_state_open(struct store *store, const struct sealed_state *state, struct buf *out, struct err *err)
{
	int result;

	if (!state->base_id)
		return blob_open(store, &state->blob, out, err);
	if (state->difference.text)
		result = difference_read(store, state, out, err);
	else
		result = base_read(store, state, out, err);
	/* Stored data is damaged: that is not the client's error. */
	if (result < 0 && err->kind == ERR_INVALID)
		err->kind = ERR_INTERNAL;
	return result;
}

static int content_read(
	struct store *store, const void *data, long long most, struct buf *out, long long *ret_size, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_content_row *row = NULL;

	if (db_query(store->db, &rows, err, state_content, .state_id = data, .most = most) < 0)
		return -1;
	if (rows.count)
		row = row_of(state_content, &rows, 0);
	if (!row || !row->blob_id)
		return err_set(err, ERR_NOT_FOUND, "the state version has no content");
	*ret_size = row->size;
	if (row->size > most)
		return 0;
	return sealed_state_open(store,
		&(struct sealed_state){.id = row->state_id,
			.blob = {row->blob_id, row->object_key, row->sealed, NULL},
			.base_id = row->base_id,
			.difference = row->difference_sealed},
		out, err);
}

int state_content(struct store *store, const char *state_id, struct buf *out, struct err *err)
{
	return blob_read_within(store, content_read, state_id, out, err);
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

int state_base_blob_add(
	struct blob_batch *blobs, struct store *store, struct bytes state, struct id *ret_blob, struct err *err)
{
	_cleanup_(buf_release) struct buf frame = BUF_INIT(FRAME_LIMIT);

	if (difference_make(NULL, state, &frame, err) < 0)
		return -1;
	return blob_add_as(blobs, store, (struct blob_content){buf_bytes(&frame), use}, ret_blob, err);
}

void state_base_add(struct state_base_batch *batch, const char *state_id, const char *blob_id, struct bytes state)
{
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(state.data, state.len, digest);
	db_array_add(&batch->bases[0], state_id);
	db_array_add(&batch->bases[1], blob_id);
	db_array_add(&batch->bases[2], digest);
}

int state_difference_add(
	struct state_base_batch *batch, struct store *store, const struct state_difference_row *row, struct err *err)
{
	_cleanup_(freep) char *context = difference_context(row->state_id, row->blob_id);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(FRAME_LIMIT);

	if (keyring_seal(store->keyring, context, row->frame, &sealed) < 0 ||
		db_bytes_add(&batch->sealed, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "the difference has more than %d bytes", FRAME_LIMIT);
	db_array_add(&batch->differences[0], row->state_id);
	db_array_add_int(&batch->differences[1], row->serial);
	db_array_add_int(&batch->differences[2], row->size);
	return 0;
}

static int differences_write(struct state_base_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->differences;

	if (!c->count)
		return 0;
	return db_queue(store->db, err, state_differences_write, .ids = &c[0], .serials = &c[1], .sizes = &c[2],
		.sealed = &batch->sealed);
}

int state_bases_insert(struct state_base_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->bases;

	if (c->count &&
		db_queue(store->db, err, state_bases_insert, .ids = &c[0], .blob_ids = &c[1], .digests = &c[2]) < 0)
		return -1;
	return differences_write(batch, store, err);
}
