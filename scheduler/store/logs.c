/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/logs.h"

#include <stdio.h>

enum { CHUNK_LIMIT = 64 << 20, CONTEXT_SIZE = 96 };

#define STX "\x02"
#define ETX "\x03"

static void chunk_context(const char *operation_id, long long start, char ret_context[CONTEXT_SIZE])
{
	snprintf(ret_context, CONTEXT_SIZE, "log:%s:%lld", operation_id, start);
}

struct appending {
	struct store *store;
	const char *operation_id;
	long long offset, length;
	const char *bytes;
	size_t len;
};

static int append_run(void *data, struct err *err)
{
	struct appending *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(CHUNK_LIMIT);
	char context[CONTEXT_SIZE];
	size_t known;

	if (db_query(a->store->db, &rows, err, "select log_length from operations where id = $1 for no key update",
		    P_TEXT(a->operation_id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "log not found");
	a->length = row_int(&rows, 0, "log_length");
	if (a->offset > a->length)
		return err_set(err, ERR_CONFLICT, "the log is %lld bytes long", a->length);
	known = (size_t)(a->length - a->offset);
	if (known >= a->len)
		return 0;
	chunk_context(a->operation_id, a->length, context);
	keyring_seal(a->store->keyring, context, a->bytes + known, a->len - known, &sealed);
	return db_query(a->store->db, NULL, err,
		"with chunk as (insert into log_chunks (operation_id, start, length, bytes_sealed) values ($1, $2, $3, "
		"$4)) "
		"update operations set log_length = log_length + $3 where id = $1",
		P_TEXT(a->operation_id), P_INT(a->length), P_INT((long long)(a->len - known)),
		P_BYTES(sealed.data, sealed.len));
}

int log_append(struct store *store, const char *operation_id, long long offset, const void *bytes, size_t len,
	long long *ret_length, struct err *err)
{
	struct appending a = {
		.store = store, .operation_id = operation_id, .offset = offset, .bytes = bytes, .len = len};
	int result = db_transaction(store->db, append_run, &a, err);

	*ret_length = a.length;
	return result;
}

/* The part of a piece of the stream, which stands at `start`, that is in [offset, end). */
static void take_part(struct buf *out, long long start, const char *bytes, size_t len, long long offset, long long end)
{
	long long from = offset > start ? offset : start;
	long long to = end < start + (long long)len ? end : start + (long long)len;

	if (from < to)
		buf_append(out, bytes + (from - start), (size_t)(to - from));
}

int log_read(struct store *store, const char *operation_id, long long offset, long long limit, struct buf *ret_bytes,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	long long end = offset + limit;
	long long length;

	/* In the stream every stored byte stands one further on, behind the STX. */
	if (db_query(store->db, &rows, err,
		    "select o.log_length, o.log_ended, c.start, c.bytes_sealed from operations o left join log_chunks "
		    "c "
		    "on c.operation_id = o.id and c.start + 1 < $3 and c.start + c.length + 1 > $2 where o.id = $1 "
		    "order by c.start",
		    P_TEXT(operation_id), P_INT(offset), P_INT(end)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "log not found");
	length = row_int(&rows, 0, "log_length");
	if (length || row_bool(&rows, 0, "log_ended"))
		take_part(ret_bytes, 0, STX, 1, offset, end);
	for (int i = 0; i < rows.count && !row_null(&rows, i, "start"); i++) {
		_cleanup_(buf_release) struct buf chunk = BUF_INIT(CHUNK_LIMIT);
		long long start = row_int(&rows, i, "start");
		char context[CONTEXT_SIZE];

		chunk_context(operation_id, start, context);
		if (store_open(store, context, &rows, i, "bytes_sealed", &chunk, err) < 0)
			return -1;
		take_part(ret_bytes, start + 1, buf_str(&chunk), chunk.len, offset, end);
	}
	if (row_bool(&rows, 0, "log_ended"))
		take_part(ret_bytes, length + 1, ETX, 1, offset, end);
	return 0;
}
