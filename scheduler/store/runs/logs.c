/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/logs.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/runs/logs.sql.h"

#include <stdio.h>
#include <string.h>

/* A read opens whole chunks, so a chunk is not larger than a typical read. */
enum { CHUNK_LIMIT = 64 << 10, CONTEXT_SIZE = 96, OPENED_LIMIT = 64 << 20 };

#define STX "\x02"
#define ETX "\x03"

static void chunk_context(const char *operation_id, long long start, char ret_context[CONTEXT_SIZE])
{
	snprintf(ret_context, CONTEXT_SIZE, "log:%s:%lld", operation_id, start);
}

static int chunk_add(struct chunk_batch *batch, struct store *store, const struct log_piece *piece, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(OPENED_LIMIT);
	char context[CONTEXT_SIZE];

	chunk_context(piece->operation_id, piece->start, context);
	if (keyring_seal(store->keyring, context, (struct bytes){piece->bytes, piece->len}, &sealed) < 0 ||
		db_bytes_add(&batch->sealed, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "too many bytes of logs at a time");
	db_array_add(&batch->operations, piece->operation_id);
	db_array_add_int(&batch->starts, piece->start);
	db_array_add_int(&batch->lengths, (long long)piece->len);
	return 0;
}

int chunks_add(struct chunk_batch *batch, struct store *store, const struct log_piece *piece, struct err *err)
{
	struct log_piece part = *piece;
	size_t left = piece->len;

	for (; left; left -= part.len, part.start += (long long)part.len, part.bytes += part.len) {
		part.len = left < CHUNK_LIMIT ? left : CHUNK_LIMIT;
		if (chunk_add(batch, store, &part, err) < 0)
			return -1;
	}
	return 0;
}

int chunks_insert(struct chunk_batch *batch, struct store *store, struct err *err)
{
	if (!batch->operations.count)
		return 0;
	return db_queue(store->db, err, log_chunks_insert, .operations = &batch->operations, .starts = &batch->starts,
		.lengths = &batch->lengths, .sealed = &batch->sealed);
}

int log_line_add(struct store *store, const char *operation_id, const char *line, struct err *err)
{
	_cleanup_(chunk_batch_release) struct chunk_batch chunks = CHUNK_BATCH_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct log_piece piece = {.operation_id = operation_id, .bytes = line, .len = strlen(line)};

	if (db_query(store->db, &rows, err, log_line_add, .operation_id = operation_id, .len = (long long)piece.len) <
		0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "log not found");
	piece.start = row_of(log_line_add, &rows, 0)->start;
	return chunks_add(&chunks, store, &piece, err) < 0 ? -1 : chunks_insert(&chunks, store, err);
}

void chunk_batch_release(struct chunk_batch *batch)
{
	db_array_release(&batch->operations);
	db_array_release(&batch->starts);
	db_array_release(&batch->lengths);
	db_bytes_release(&batch->sealed);
}

/* ---- reading ---- */

struct reading {
	struct store *store;
	const char *operation_id;
	long long offset, end; /* positions in the stream; a stored byte's position is one higher, because of the STX */
	struct buf *out;
};

/* Appends the part of a piece at position `start` of the stream that is in the range. */
static void take_part(const struct reading *r, long long start, const char *bytes, size_t len)
{
	long long from = r->offset > start ? r->offset : start;
	long long to = r->end < start + (long long)len ? r->end : start + (long long)len;

	if (from < to)
		buf_append(r->out, bytes + (from - start), (size_t)(to - from));
}

static int chunks_read(const struct reading *r, const struct rows *rows, struct err *err)
{
	for (int i = 0; i < rows->count; i++) {
		const struct log_read_row *row = row_of(log_read, rows, i);
		_cleanup_(buf_release) struct buf chunk = BUF_INIT(OPENED_LIMIT);
		char context[CONTEXT_SIZE];

		if (row->start_null)
			return 0;
		chunk_context(r->operation_id, row->start, context);
		if (seal_open(r->store, context, row->bytes_sealed, &chunk, err) < 0)
			return -1;
		take_part(r, row->start + 1, buf_str(&chunk), chunk.len);
	}
	return 0;
}

static int packed_read(const struct reading *r, const char *blob_id, struct err *err)
{
	long long from = r->offset > 1 ? r->offset - 1 : 0;

	return blob_get_part(r->store, &(struct blob_range){blob_id, from, r->end - 1 - from}, r->out, err);
}

static const char deleted_text[] = "This log was deleted: it is older than logs are kept here.\n";

/* A reader may continue at an offset beyond the shorter text of the deleted log: it receives the ETX. */
static void deleted_read(const struct reading *r)
{
	long long length = (long long)sizeof(deleted_text) - 1;
	struct reading part = *r;

	if (part.offset > length + 1)
		part.offset = length + 1;
	take_part(&part, 0, STX, 1);
	take_part(&part, 1, deleted_text, (size_t)length);
	if (part.end <= part.offset)
		part.end = part.offset + 1;
	take_part(&part, length + 1, ETX, 1);
}

static int stream_select(const struct reading *r, struct rows *ret_rows, struct err *err)
{
	if (db_query(r->store->db, ret_rows, err, log_read, .operation_id = r->operation_id, .offset = r->offset,
		    .end = r->end) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "log not found");
}

static int stream_read(const struct reading *r, const struct rows *rows, struct err *err)
{
	const struct log_read_row *log = row_of(log_read, rows, 0);
	bool packed = log->log_blob && r->offset <= log->log_length;

	if (log->log_length || log->log_ended)
		take_part(r, 0, STX, 1);
	if (packed ? packed_read(r, log->log_blob, err) < 0 : chunks_read(r, rows, err) < 0)
		return -1;
	if (log->log_ended)
		take_part(r, log->log_length + 1, ETX, 1);
	return 0;
}

int log_read(struct store *store, const struct log_range *range, struct buf *ret_bytes, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct reading r = {store, range->operation_id, range->offset, range->offset + range->limit, ret_bytes};

	if (stream_select(&r, &rows, err) < 0)
		return -1;
	if (!row_of(log_read, &rows, 0)->deleted)
		return stream_read(&r, &rows, err);
	deleted_read(&r);
	return 0;
}

int log_lookup(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, log_lookup, .operation_id = operation_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "log not found");
}

int log_output_read(struct store *store, const struct log_range *range, struct buf *ret_bytes, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct reading r = {store, range->operation_id, range->offset + 1, range->offset + 1 + range->limit, ret_bytes};
	const struct log_read_row *log;

	if (stream_select(&r, &rows, err) < 0)
		return -1;
	log = row_of(log_read, &rows, 0);
	if (log->deleted)
		return err_set(err, ERR_NOT_FOUND, "the log was deleted: it is older than logs are kept here");
	if (r.end > log->log_length + 1)
		r.end = log->log_length + 1;
	if (r.end <= r.offset)
		return 0;
	return log->log_blob ? packed_read(&r, log->log_blob, err) : chunks_read(&r, &rows, err);
}

int logs_lengths(struct store *store, struct db_array *operation_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, logs_lengths, .operation_ids = operation_ids);
}

/* ---- packing ---- */

enum { MAX_PACK = 256 << 20 };

struct packing {
	struct store *store;
	const char *operation_id;
	long long from_bytes;
};

static int pack_in(void *data, struct err *err)
{
	const struct packing *p = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf log = BUF_INIT(MAX_PACK);
	struct reading r = {p->store, p->operation_id, 1, MAX_PACK, &log};
	struct id blob;

	if (db_query(p->store->db, &rows, err, log_pack_lock, .operation_id = p->operation_id, .min = p->from_bytes,
		    .max = MAX_PACK - 2) < 0)
		return -1;
	if (!rows.count)
		return 0;
	rows_release(&rows);
	if (stream_select(&r, &rows, err) < 0 || chunks_read(&r, &rows, err) < 0 ||
		blob_put_pieces(p->store, buf_str(&log), log.len, &blob, err) < 0 ||
		db_query(p->store->db, NULL, err, log_pack_set, .operation_id = p->operation_id, .blob = blob.text) < 0)
		return -1;
	return db_query(p->store->db, NULL, err, log_pack_delete, .operation_id = p->operation_id);
}

int log_pack(struct store *store, const char *operation_id, long long from_bytes, struct err *err)
{
	struct packing p = {store, operation_id, from_bytes > 1 ? from_bytes : 1};

	return db_transaction(store->db, pack_in, &p, err);
}
