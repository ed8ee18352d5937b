/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/rescues.h"

#include "scheduler/store/content/object_url.h"
#include "scheduler/store/content/rescues.sql.h"
#include "scheduler/store/content/seals.h"

enum { KEY_BYTES = 32, NAME_BYTES = 16, SEALED_LIMIT = 1024, SPARE_SECONDS = 3600 };

/* ---- grants ---- */

/* The folder lets operators set rules for these objects; the two digits spread the names, as for other objects. */
struct rescue_grant rescue_grant_new(void)
{
	_cleanup_(freep) char *name = crypto_random_hex(NAME_BYTES);

	return (struct rescue_grant){
		.object = mem_printf("rescue/%.2s/%s", name, name), .key = crypto_random_hex(KEY_BYTES)};
}

void rescue_grant_release(struct rescue_grant *grant)
{
	free(grant->object);
	free(grant->key);
	*grant = (struct rescue_grant){.object = NULL};
}

json_t *rescue_grant_json(struct store *store, const struct rescue_grant *grant, const char *job)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *text = NULL;

	seal_text(store, grant->object, grant->key, &sealed);
	text = crypto_base64(sealed.data, sealed.len);
	return json_pack("{ss ss ss}", "job", job, "object", grant->object, "sealed", text);
}

int rescues_insert(struct store *store, const json_t *grants, struct err *err)
{
	_cleanup_(freep) char *text = json_text(grants);

	if (!json_array_size(grants))
		return 0;
	/* Returns nothing. The jobs are read by their primary key; their ids are an array (db/db.h, "plans"). */
	return db_queue(store->db, err, rescues_insert, .p1 = text, .p2 = OBJECT_URL_SECONDS + SPARE_SECONDS);
}

/* ---- objects of held workspaces ---- */

/* After 5 s, then after a tenth of the hold's age, up to a minute. */
int rescues_due(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, rescues_due, .max = max);
}

int rescue_key(struct store *store, const struct rows *rows, int row, struct buf *ret_key, struct err *err)
{
	return seal_open(store, row_of(rescues_due, rows, row)->object_key,
		(struct sealed_column){rows, row, "key_sealed"}, ret_key, err);
}

int rescue_saw(struct store *store, const char *object_key, const char *seen, struct err *err)
{
	return db_query(store->db, NULL, err, rescue_saw, .object_key = object_key, .seen = seen);
}

/* ---- deletion ---- */

/* Rows of running applies are few, and those of ended ones stay for minutes only, unless their hold did not end with
 * the last state. */
static int ended_note(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, ended_note);
}

/* Claims a batch for 5 minutes, after which those of a crashed process are due again. */
static int due_take(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, due_take, .max_rescues_deleted = MAX_RESCUES_DELETED);
}

int rescues_delete(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array done = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int result = 0;

	if (ended_note(store, err) < 0 || due_take(store, &rows, err) < 0)
		return -1;
	*ret_count = rows.count;
	for (int i = 0; i < rows.count && result == 0; i++) {
		result = object_delete(objects, row_of(due_take, &rows, i)->object_key, err);
		if (result == 0)
			db_array_add(&done, row_of(due_take, &rows, i)->object_key);
	}
	if (done.count && db_query(store->db, NULL, err, rescues_delete, .done = &done) < 0)
		return -1;
	return result;
}
