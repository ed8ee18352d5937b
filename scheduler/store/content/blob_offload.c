/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_offload.h"

#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/objects.h"

enum { SEALED_LIMIT = 1 << 30 };

/* ---- moving ---- */

/* Columns key, blob_id, size. The keys are random. The first two digits are a folder, since some stores keep the names
 * of one folder in one list. */
static int blob_offload_take(
	struct store *store, const struct objects_settings *settings, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with due as (select b.id, b.size, replace(gen_random_uuid()::text, '-', '') as name "
		"from blobs b where b.object_key is null and b.size >= $1 "
		"and b.created_at <= now() - make_interval(secs => $2) "
		"and not exists (select 1 from object_removals r where r.blob_id = b.id) "
		"and not exists (select 1 from state_bases x where x.blob_id = b.id) order by b.size desc limit "
		"$3), "
		"taken as (insert into object_removals (key, blob_id, size, due_at) "
		"select right(name, 2) || '/' || name, id, size, now() + interval '1 hour' from due "
		"on conflict do nothing returning key, blob_id, size), "
		"counted as (update object_usage set objects = objects + n, bytes = bytes + total from "
		"(select count(*) as n, coalesce(sum(size), 0) as total from taken) t where n > 0) "
		"select key, blob_id, size from taken order by size",
		P_INT(settings->from_bytes), P_INT(settings->after_seconds), P_INT(OFFLOADS_MAX));
}

/* Replaces the row's bytes by the object's key. If the blob was deleted meanwhile, the object stays in
 * object_removals. */
static int move_commit(struct store *store, const char *key, const char *blob_id, uint32_t key_number, struct err *err)
{
	return db_query(store->db, NULL, err,
		"with written as (select key from object_removals where key = $1 and due_at > now() for update), "
		"moved as (update blobs set bytes_sealed = null, object_key = w.key, object_key_number = $3 from "
		"written w "
		"where id = $2 and object_key is null returning id) "
		"delete from object_removals where key = $1 and exists (select 1 from moved)",
		P_TEXT(key), P_TEXT(blob_id), P_INT(key_number));
}

/* Schedules the object for deletion, whether or not it was written. The blob is claimed again only after that. */
static int move_give_up(struct store *store, const char *key, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update object_removals set due_at = now() + interval '5 seconds' where key = $1", P_TEXT(key));
}

static int move_one(struct store *store, struct objects *objects, const struct rows *taken, int row, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	const char *key = row_text(taken, row, "key"), *blob_id = row_text(taken, row, "blob_id");

	if (db_query(store->db, &rows, err, "select bytes_sealed from blobs where id = $1 and object_key is null",
		    P_TEXT(blob_id)) < 0)
		return -1;
	if (!rows.count)
		return move_give_up(store, key, err);
	row_bytes(&rows, 0, "bytes_sealed", &sealed);
	rows_release(&rows);
	if (object_put(objects, key, buf_str(&sealed), sealed.len, err) < 0)
		return -1;
	metric_add(M_MOVED, "", (double)row_int(taken, row, "size"));
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
			result = move_one(store, objects, &taken, i, err);
		if (result < 0)
			move_give_up(store, row_text(&taken, i, "key"), &ignored);
	}
	return result;
}

/* ---- removing ---- */

/* Claims a batch for 5 minutes, after which those of a crashed process are due again. */
static int removals_take(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"update object_removals set due_at = now() + interval '5 minutes' where key in "
		"(select key from object_removals where due_at <= now() order by due_at limit $1 "
		"for update skip locked) returning key",
		P_INT(MAX_REMOVALS));
}

static int removals_commit(struct store *store, struct db_array *keys, struct err *err)
{
	return db_query(store->db, NULL, err,
		"with gone as (delete from object_removals where key = any($1::text[]) returning size) "
		"update object_usage set objects = objects - n, bytes = bytes - total from "
		"(select count(*) as n, coalesce(sum(size), 0) as total from gone) t where n > 0",
		P_ARRAY(keys));
}

/* Retries in 5 seconds what was not deleted. */
static void removals_return(struct store *store, const struct rows *taken)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT;
	struct err ignored = ERR_INIT;

	for (int i = 0; i < taken->count; i++)
		db_array_add(&keys, row_text(taken, i, "key"));
	db_query(store->db, NULL, &ignored,
		"update object_removals set due_at = now() + interval '5 seconds' where key = any($1::text[])",
		P_ARRAY(&keys));
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
		result = object_delete(objects, row_text(&taken, i, "key"), err);
		if (result == 0)
			db_array_add(&done, row_text(&taken, i, "key"));
	}
	if (result < 0)
		removals_return(store, &taken);
	if (done.count && removals_commit(store, &done, err) < 0)
		return -1;
	return result;
}
