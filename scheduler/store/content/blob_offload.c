/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_offload.h"

#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/blob_offload.sql.h"
#include "scheduler/store/content/objects.h"

enum { SEALED_LIMIT = 1 << 30 };

/* ---- moving ---- */

static int move_give_up(struct store *store, const char *key, struct err *err)
{
	return db_query(store->db, NULL, err, blob_move_give_up, .key = key);
}

static int move_one(
	struct store *store, struct objects *objects, const struct blob_moves_take_row *row, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	const char *key = row->key, *blob_id = row->blob_id;

	if (db_query(store->db, &rows, err, blob_move_read, .blob_id = blob_id) < 0)
		return -1;
	if (!rows.count)
		return move_give_up(store, key, err);
	hex_decode(row_of(blob_move_read, &rows, 0)->bytes_sealed, &sealed);
	rows_release(&rows);
	if (object_put(objects, key, buf_str(&sealed), sealed.len, err) < 0)
		return -1;
	metric_add(M_MOVED, "", (double)row->size);
	return db_query(store->db, NULL, err, blob_move_commit, .key = key, .blob_id = blob_id,
		.key_number = sealed_number(buf_str(&sealed)));
}

int blob_offload_run(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	const struct objects_settings *settings = objects_settings(objects);
	_cleanup_(rows_release) struct rows taken = ROWS_INIT;
	int result = 0;

	if (db_query(store->db, &taken, err, blob_moves_take, .from_bytes = settings->from_bytes,
		    .after_seconds = settings->after_seconds, .max = OFFLOADS_MAX) < 0)
		return -1;
	*ret_count = taken.count;
	for (int i = 0; i < taken.count; i++) {
		const struct blob_moves_take_row *row = row_of(blob_moves_take, &taken, i);
		struct err ignored = ERR_INIT;

		if (result == 0)
			result = move_one(store, objects, row, err);
		if (result < 0)
			move_give_up(store, row->key, &ignored);
	}
	return result;
}

/* ---- removing ---- */

/* Retries in 5 seconds what was not deleted. */
static void removals_return(struct store *store, const struct rows *taken)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT;
	struct err ignored = ERR_INIT;

	for (int i = 0; i < taken->count; i++)
		db_array_add(&keys, row_of(object_removals_take, taken, i)->key);
	db_query(store->db, NULL, &ignored, object_removals_return, .keys = &keys);
}

int removals_run(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows taken = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array done = DB_ARRAY_INIT;
	int result = 0;

	if (db_query(store->db, &taken, err, object_removals_take, .max = MAX_REMOVALS) < 0)
		return -1;
	*ret_count = taken.count;
	for (int i = 0; i < taken.count && result == 0; i++) {
		const char *key = row_of(object_removals_take, &taken, i)->key;

		result = object_delete(objects, key, err);
		if (result == 0)
			db_array_add(&done, key);
	}
	if (result < 0)
		removals_return(store, &taken);
	if (done.count && db_query(store->db, NULL, err, object_removals_commit, .keys = &done) < 0)
		return -1;
	return result;
}
