/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_offload.h"

#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/blob_offload.sql.h"
#include "scheduler/store/content/objects.h"

enum { SEALED_LIMIT = 1 << 30 };

/* ---- moving ---- */

/* Columns key, blob_id, size. The keys are random. The first two digits are a folder, since some stores keep the names
 * of one folder in one list. */
static int blob_offload_take(
	struct store *store, const struct objects_settings *settings, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, blob_offload_take, .from_bytes = settings->from_bytes,
		.after_seconds = settings->after_seconds, .offloads_max = OFFLOADS_MAX);
}

/* Replaces the row's bytes by the object's key. If the blob was deleted meanwhile, the object stays in
 * object_removals. */
static int move_commit(struct store *store, const char *key, const char *blob_id, uint32_t key_number, struct err *err)
{
	return db_query(store->db, NULL, err, move_commit, .key = key, .blob_id = blob_id, .key_number = key_number);
}

/* Schedules the object for deletion, whether or not it was written. The blob is claimed again only after that. */
static int move_give_up(struct store *store, const char *key, struct err *err)
{
	return db_query(store->db, NULL, err, move_give_up, .key = key);
}

static int move_one(
	struct store *store, struct objects *objects, const struct blob_offload_take_row *row, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	const char *key = row->key, *blob_id = row->blob_id;

	if (db_query(store->db, &rows, err, blob_offload_move_one, .blob_id = blob_id) < 0)
		return -1;
	if (!rows.count)
		return move_give_up(store, key, err);
	hex_decode(row_of(blob_offload_move_one, &rows, 0)->bytes_sealed, &sealed);
	rows_release(&rows);
	if (object_put(objects, key, buf_str(&sealed), sealed.len, err) < 0)
		return -1;
	metric_add(M_MOVED, "", (double)row->size);
	return move_commit(store, key, blob_id, sealed_number(buf_str(&sealed)), err);
}

int blob_offload_run(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows taken = ROWS_INIT;
	int result = 0;

	if (blob_offload_take(store, objects_settings(objects), &taken, err) < 0)
		return -1;
	*ret_count = taken.count;
	for (int i = 0; i < taken.count; i++) {
		struct err ignored = ERR_INIT;

		if (result == 0)
			result = move_one(store, objects, row_of(blob_offload_take, &taken, i), err);
		if (result < 0)
			move_give_up(store, row_of(blob_offload_take, &taken, i)->key, &ignored);
	}
	return result;
}

/* ---- removing ---- */

/* Claims a batch for 5 minutes, after which those of a crashed process are due again. */
static int removals_take(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, removals_take, .max_removals = MAX_REMOVALS);
}

static int removals_commit(struct store *store, struct db_array *keys, struct err *err)
{
	return db_query(store->db, NULL, err, removals_commit, .keys = keys);
}

/* Retries in 5 seconds what was not deleted. */
static void removals_return(struct store *store, const struct rows *taken)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT;
	struct err ignored = ERR_INIT;

	for (int i = 0; i < taken->count; i++)
		db_array_add(&keys, row_of(removals_take, taken, i)->key);
	db_query(store->db, NULL, &ignored, removals_return, .keys = &keys);
}

int removals_run(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows taken = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array done = DB_ARRAY_INIT;
	int result = 0;

	if (removals_take(store, &taken, err) < 0)
		return -1;
	*ret_count = taken.count;
	for (int i = 0; i < taken.count && result == 0; i++) {
		result = object_delete(objects, row_of(removals_take, &taken, i)->key, err);
		if (result == 0)
			db_array_add(&done, row_of(removals_take, &taken, i)->key);
	}
	if (result < 0)
		removals_return(store, &taken);
	if (done.count && removals_commit(store, &done, err) < 0)
		return -1;
	return result;
}
