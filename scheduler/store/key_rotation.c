/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/key_rotation.h"

#include <endian.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/key_rotation.sql.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/policies/policy_runs.h"
#include "scheduler/store/tasks/task_calls.h"

enum { PAGE_ROWS = 1000, BATCH_ROWS = 100, BATCH_BYTES = 8 << 20, MAX_PASSES = 3, SEALED_LIMIT = 1 << 30 };

/* ---- what is sealed ---- */

typedef int (*reseal_fn)(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err);

/* A sealed column, and its statements: they take and give what those of the first column do. */
struct sealed_kind {
	const char *name;
	const struct db_statement *count, *page, *read;
	const struct db_statement *write; /* NULL: the bundles of policy evaluations, documents with sealed parts */
	reseal_fn reseal;
};

enum { KINDS = sealed_columns_count + 1 };

static int reseal(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err);
static int bundle_reseal(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err);

static struct sealed_kind kind_at(size_t i)
{
	if (i == sealed_columns_count)
		return (struct sealed_kind){"policy_evaluations.bundle", &sealed_bundle_count_statement,
			&sealed_bundle_page_statement, &sealed_bundle_read_statement, NULL, bundle_reseal};
	return (struct sealed_kind){sealed_columns_names[i], sealed_count_statements[i], sealed_page_statements[i],
		sealed_read_statements[i], sealed_write_statements[i],
		text_equal(sealed_columns_names[i], "blobs.bytes_sealed") ? blob_reseal : reseal};
}

static int reseal(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err)
{
	_cleanup_(buf_release) struct buf opened = BUF_INIT(SEALED_LIMIT);

	if (keyring_open(store->keyring, context, sealed, &opened, err) < 0)
		return -1;
	return keyring_seal(store->keyring, context, buf_bytes(&opened), ret_sealed);
}

static int parameter_reseal(struct store *store, json_t *parameter, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT), again = BUF_INIT(SEALED_LIMIT);

	if (!json_string_at(parameter, "sealed"))
		return 0;
	if (policy_parameter_sealed(parameter, &sealed) < 0)
		return err_set(err, ERR_INTERNAL, "a parameter's value is no base64");
	if (reseal(store, text_or_empty(json_string_at(parameter, "id")), buf_bytes(&sealed), &again, err) < 0)
		return -1;
	_cleanup_(freep) char *text = crypto_base64(again.data, again.len);
	json_object_set_new(parameter, "sealed", json_string(text));
	return 0;
}

static int bundle_reseal(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err)
{
	json_auto_t *bundle = NULL;
	json_t *set, *parameter;
	size_t i, k;

	if (json_parse(sealed.data, sealed.len, &bundle, err) < 0)
		return err_context(err, "%s", context);
	json_array_foreach(bundle, i, set)
	{
		json_array_foreach(json_object_get(set, "parameters"), k, parameter)
		{
			if (parameter_reseal(store, parameter, err) < 0)
				return -1;
		}
	}
	_cleanup_(freep) char *text = json_text(bundle);
	return buf_append(ret_sealed, text, strlen(text) + 1);
}

/* ---- rotation of rows ---- */

struct rotation {
	struct store *store;
	struct objects *objects;
	char number[KEY_NUMBER_SIZE]; /* of the first key, as sealed bytes begin */
	long long count;
};

/* Consecutive old rows of a page, which are sealed again in one transaction. */
struct batch {
	struct rotation *rotation;
	const struct sealed_kind *kind;
	const struct rows *page;
	int from, until;
	long long count;
};

static int row_write(const struct batch *b, const char *key, const struct db_statement *write, const struct buf *again,
	struct err *err)
{
	struct db *db = b->rotation->store->db;

	if (!write)
		return db_query(db, NULL, err, sealed_bundle_write, .key = key, .document = again->data);
	return db_query_one_of(db, NULL, err, write, sealed_write_ssh_keys_value_sealed, .key = key,
		.sealed = db_blob(again->data, again->len));
}

static int row_rotate(const struct batch *b, const char *key, long long *count, struct err *err)
{
	struct store *store = b->rotation->store;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT), again = BUF_INIT(SEALED_LIMIT);
	const struct sealed_row_row *row;

	if (db_query_one_of(store->db, &rows, err, b->kind->read, sealed_read_ssh_keys_value_sealed, .key = key,
		    .number = db_blob(b->rotation->number, KEY_NUMBER_SIZE)) < 0)
		return -1;
	if (!rows.count)
		return 0;
	row = row_of(sealed_row, &rows, 0);
	hex_decode(row->sealed, &sealed);
	buf_text(&sealed, text_or_empty(row->document));
	if (b->kind->reseal(store, row->context, buf_bytes(&sealed), &again, err) < 0)
		return err_context(err, "%s of '%s'", b->kind->name, key);
	++*count;
	return row_write(b, key, b->kind->write, &again, err);
}

static int batch_in(void *data, struct err *err)
{
	struct batch *b = data;

	b->count = 0;
	for (int i = b->from; i < b->until; i++) {
		const struct sealed_page_row *row = row_of(sealed_page, b->page, i);

		if (row->old && row_rotate(b, row->key, &b->count, err) < 0)
			return -1;
	}
	return 0;
}

/* Sets `until` behind the next rows that are not too many for one transaction. Returns how many of them are old. */
static int batch_extend(struct batch *b)
{
	long long bytes = 0;
	int old = 0;

	for (b->until = b->from; b->until < b->page->count && old < BATCH_ROWS && bytes < BATCH_BYTES; b->until++) {
		const struct sealed_page_row *row = row_of(sealed_page, b->page, b->until);

		bytes += row->old ? row->size : 0;
		old += row->old;
	}
	return old;
}

static int page_rotate(struct rotation *r, const struct sealed_kind *kind, const struct rows *page, struct err *err)
{
	struct batch b = {.rotation = r, .kind = kind, .page = page};

	for (; b.from < page->count; b.from = b.until) {
		if (!batch_extend(&b))
			continue;
		if (db_transaction(r->store->db, batch_in, &b, err) < 0)
			return -1;
		r->count += b.count;
	}
	return 0;
}

static int kind_rotate(struct rotation *r, const struct sealed_kind *kind, struct err *err)
{
	_cleanup_(freep) char *after = mem_text("");
	bool more = true;

	while (more) {
		_cleanup_(rows_release) struct rows page = ROWS_INIT;

		if (db_query_one_of(r->store->db, &page, err, kind->page, sealed_page_ssh_keys_value_sealed,
			    .number = db_blob(r->number, KEY_NUMBER_SIZE), .after = after, .max = PAGE_ROWS) < 0 ||
			page_rotate(r, kind, &page, err) < 0)
			return -1;
		more = page.count == PAGE_ROWS;
		if (more) {
			free(after);
			after = mem_text(row_of(sealed_page, &page, page.count - 1)->key);
		}
	}
	return 0;
}

/* ---- rotation of objects ---- */

struct object_swap {
	struct rotation *rotation;
	const char *blob_id, *old, *key;
	long long size;
};

static int object_swap_commit(const struct object_swap *swap, struct err *err)
{
	return db_query(swap->rotation->store->db, NULL, err, object_swap_commit, .blob_id = swap->blob_id,
		.old = swap->old, .key = swap->key, .key_number = keyring_number(swap->rotation->store->keyring, 0),
		.size = swap->size);
}

static int object_reseal(const struct object_swap *swap, const struct buf *sealed, struct err *err)
{
	struct rotation *r = swap->rotation;
	_cleanup_(buf_release) struct buf again = BUF_INIT(SEALED_LIMIT);

	if (blob_reseal(r->store, swap->blob_id, buf_bytes(sealed), &again, err) < 0)
		return err_context(err, "the object of %s", swap->blob_id);
	if (db_query(r->store->db, NULL, err, object_list, .key = swap->key, .size = swap->size) < 0 ||
		object_put(r->objects, swap->key, buf_str(&again), again.len, err) < 0 ||
		object_swap_commit(swap, err) < 0)
		return -1;
	r->count++;
	return 0;
}

/* Keeps the error of an object that was not found, unless its blob was deleted since the page was read. */
static int object_check_gone(const struct object_swap *swap, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err missing = *err;

	if (db_query(swap->rotation->store->db, &rows, err, object_of_blob, .blob_id = swap->blob_id,
		    .old = swap->old) < 0)
		return -1;
	*err = rows.count ? missing : (struct err)ERR_INIT;
	return rows.count ? err_context(err, "the object of %s", swap->blob_id) : 0;
}

static int object_rotate(struct rotation *r, const struct objects_old_row *row, struct err *err)
{
	const struct object_swap swap = {
		.rotation = r, .blob_id = row->id, .old = row->object_key, .key = row->key, .size = row->size};
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct object_part part = {.from = 0};

	text_copy(part.key, sizeof(part.key), swap.old);
	if (object_get(r->objects, &part, &sealed, err) < 0)
		return err->kind == ERR_NOT_FOUND ? object_check_gone(&swap, err) : -1;
	if (sealed.len >= KEY_NUMBER_SIZE && memcmp(sealed.data, r->number, KEY_NUMBER_SIZE) != 0)
		return object_reseal(&swap, &sealed, err);
	return db_query(r->store->db, NULL, err, object_number_set, .blob_id = swap.blob_id, .old = swap.old,
		.key_number = keyring_number(r->store->keyring, 0));
}

/* One object at a time: each may have hundreds of MB. */
static int objects_rotate(struct rotation *r, struct err *err)
{
	struct id after = {""};

	for (;;) {
		_cleanup_(rows_release) struct rows rows = ROWS_INIT;

		if (db_query(r->store->db, &rows, err, objects_old, .after = after.text,
			    .key_number = keyring_number(r->store->keyring, 0), .max = BATCH_ROWS) < 0)
			return -1;
		if (rows.count && !r->objects)
			return err_set(
				err, ERR_INVALID, "content is in the object store: --object-store-url is needed");
		for (int i = 0; i < rows.count; i++)
			if (object_rotate(r, row_of(objects_old, &rows, i), err) < 0)
				return -1;
		if (rows.count < BATCH_ROWS)
			return 0;
		text_copy(after.text, sizeof(after.text), row_of(objects_old, &rows, rows.count - 1)->id);
	}
}

/* ---- the report ---- */

static json_t *key_of(json_t *report, long long number)
{
	json_t *key;
	size_t i;

	json_array_foreach(report, i, key)
	{
		if (json_int_at(key, "number", -1) == number)
			return key;
	}
	/* Rows of a key that no scheduler has recorded. */
	json_array_append_new(report,
		json_pack("{sI sn sb s{} si si sn}", "number", number, "place", "in-use", 1, "rows", "objects", 0,
			"run-tasks", 0, "links-until"));
	return json_array_get(report, json_array_size(report) - 1);
}

static json_t *place_of_key(const struct keyring *keyring, long long number)
{
	for (size_t place = 0; place < keyring_count(keyring); place++)
		if (keyring_number(keyring, place) == number)
			return json_integer((json_int_t)place);
	return json_null();
}

static int keys_list(struct store *store, json_t *report, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, sealing_keys_list) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct sealing_keys_list_row *row = row_of(sealing_keys_list, &rows, i);
		json_t *key = key_of(report, row->number);

		json_object_set_new(key, "place", place_of_key(store->keyring, row->number));
		json_object_set_new(key, "in-use", json_boolean(row->used));
		if (row->links_until)
			json_object_set_new(key, "links-until", json_string(row->links_until));
	}
	return 0;
}

static int kind_count(struct store *store, const struct sealed_kind *kind, json_t *report, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query_one_of(store->db, &rows, err, kind->count, sealed_count_ssh_keys_value_sealed) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct sealed_count_row *row = row_of(sealed_count, &rows, i);

		json_object_set_new(
			json_object_get(key_of(report, row->number), "rows"), kind->name, json_integer(row->count));
	}
	return 0;
}

static int objects_count(struct store *store, json_t *report, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	long long unread = 0;
	json_t *key;
	size_t k;

	if (db_query(store->db, &rows, err, objects_count) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct objects_count_row *row = row_of(objects_count, &rows, i);

		if (row->number_null)
			unread = row->count;
		else
			json_object_set_new(key_of(report, row->number), "objects", json_integer(row->count));
	}
	json_array_foreach(report, k, key)
	{
		json_object_set_new(key, "unread-objects", json_integer(unread));
	}
	return 0;
}

static int tokens_count(struct store *store, json_t *report, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, task_tokens_open) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct task_tokens_open_row *row = row_of(task_tokens_open, &rows, i);
		uint32_t number;
		json_t *key;

		if (!task_token_key(store, row->id, row->token_hash, &number))
			continue;
		key = key_of(report, number);
		json_object_set_new(key, "run-tasks", json_integer(json_int_at(key, "run-tasks", 0) + 1));
	}
	return 0;
}

/* Whole tables are read. */
static int scans_allow(struct store *store, struct err *err)
{
	return db_script(store->db, "set statement_timeout = 0; set enable_seqscan = on", err);
}

/* Adds the sum, and whether the key can go. */
static void key_finish(json_t *key)
{
	json_t *counts = json_object_get(key, "rows");
	long long sum = 0;
	bool seals, signs;

	for (size_t i = 0; i < KINDS; i++) {
		const char *name = kind_at(i).name;
		json_int_t count = json_integer_value(json_object_get(counts, name));

		json_object_set_new(counts, name, json_integer(count));
		sum += count;
	}
	seals = sum || json_int_at(key, "objects", 0) || json_int_at(key, "unread-objects", 0);
	signs = json_int_at(key, "run-tasks", 0) || json_string_at(key, "links-until");
	json_object_set_new(key, "sealed-rows", json_integer(sum));
	json_object_set_new(key, "seals", json_boolean(seals));
	json_object_set_new(key, "can-go", json_boolean(!seals && !signs && json_int_at(key, "place", -1) != 0));
}

int keys_report(struct store *store, json_t **ret_report, struct err *err)
{
	json_auto_t *report = json_array();
	json_t *key;
	size_t k;

	if (scans_allow(store, err) < 0 || keys_list(store, report, err) < 0)
		return -1;
	for (size_t i = 0; i < KINDS; i++) {
		const struct sealed_kind kind = kind_at(i);

		if (kind_count(store, &kind, report, err) < 0)
			return -1;
	}
	if (tokens_count(store, report, err) < 0 || objects_count(store, report, err) < 0)
		return -1;
	json_array_foreach(report, k, key)
	{
		key_finish(key);
	}
	*ret_report = json_incref(report);
	return 0;
}

/* ---- the rotation ---- */

/* Marks the keys that seal nothing. ERR_CONFLICT if an old key still does. */
static int keys_retire(struct store *store, struct err *err)
{
	json_auto_t *report = NULL;
	json_t *key;
	size_t i;

	if (keys_report(store, &report, err) < 0)
		return -1;
	json_array_foreach(report, i, key)
	{
		long long number = json_int_at(key, "number", 0);

		if (number == keyring_number(store->keyring, 0))
			continue;
		if (json_bool_at(key, "seals", true))
			return err_set(err, ERR_CONFLICT,
				"key %lld still seals: put the new key first at every scheduler, and rotate again",
				number);
		if (db_query(store->db, NULL, err, sealing_key_retire, .number = number) < 0)
			return -1;
	}
	return 0;
}

static int pass(struct rotation *r, struct err *err)
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct sealed_kind kind = kind_at(i);
		long long before = r->count;

		if (kind_rotate(r, &kind, err) < 0)
			return -1;
		_cleanup_(freep) char *count = mem_printf("%lld", r->count - before);
		if (r->count > before)
			log_info("sealed again", "what", kind.name, "count", count, NULL);
	}
	return objects_rotate(r, err);
}

/* A scheduler may move old bytes to the object store, or commit a row, while the first pass is behind them. */
int keys_rotate(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	struct rotation r = {.store = store, .objects = objects};
	uint32_t number = htobe32(keyring_number(store->keyring, 0));
	long long before = -1;

	memcpy(r.number, &number, sizeof(r.number));
	if (scans_allow(store, err) < 0)
		return -1;
	for (int i = 0; i < MAX_PASSES && r.count != before; i++) {
		before = r.count;
		if (pass(&r, err) < 0)
			return -1;
	}
	*ret_count = r.count;
	return keys_retire(store, err);
}
