/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/rescues.h"

#include "scheduler/store/content/object_url.h"
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
	return db_queue(
		store->db, err, rescues_insert, .grants = text, .keep_seconds = OBJECT_URL_SECONDS + SPARE_SECONDS);
}

/* ---- objects of held workspaces ---- */

int rescues_due(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, rescues_due, .max = max);
}

int rescue_key(struct store *store, const struct rescues_due_row *row, struct buf *ret_key, struct err *err)
{
	return seal_open(store, row->object_key, row->key_sealed, ret_key, err);
}

int rescue_saw(struct store *store, const char *object_key, const char *seen, struct err *err)
{
	return db_query(store->db, NULL, err, rescue_saw, .object_key = object_key, .seen = seen);
}

/* ---- deletion ---- */

int rescues_delete(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array done = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int result = 0;

	if (db_query(store->db, NULL, err, rescues_ended_note) < 0 ||
		db_query(store->db, &rows, err, rescues_take, .max = MAX_RESCUES_DELETED) < 0)
		return -1;
	*ret_count = rows.count;
	for (int i = 0; i < rows.count && result == 0; i++) {
		const char *key = row_of(rescues_take, &rows, i)->object_key;

		result = object_delete(objects, key, err);
		if (result == 0)
			db_array_add(&done, key);
	}
	if (done.count && db_query(store->db, NULL, err, rescues_delete, .done = &done) < 0)
		return -1;
	return result;
}
