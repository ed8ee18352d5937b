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

/* A sealed column, and its statements:
 *   count  number, count
 *   page   ($1 the first key's bytes, $2 the row after which it begins, $3 how many) key, size, old
 *   read   ($1 the row's key, $2 as $1 above) context, sealed; locks the row
 *   write  ($1 the row's key, $2 the sealed bytes) */
struct sealed_kind {
	const char *name, *count, *page, *read, *write;
	reseal_fn reseal;
	bool text; /* the column is a document that has sealed parts */
};

#define NUMBER_OF(bytes) "('x' || encode(substring(" bytes " from 1 for 4), 'hex'))::bit(32)::bigint"
#define IS_OLD(column)   column " is not null and substring(" column " from 1 for 4) <> $1::bytea"

/* A table's primary key in four forms: as a text; the row whose key is $1; the rows behind $2 ("": all); their order.
 * The order is that of the index, so a page is read from where the last one ended. */
#define KEY_OF(column)  column, column " = $1", column " > $2", column
#define KEY_OF_RESPONSE "id::text", "id = $1::bigint", "id > coalesce(nullif($2, ''), '-1')::bigint", "id"
#define KEY_OF_DELIVERY                                                                                                \
	"sequence::text", "sequence = $1::bigint", "sequence > coalesce(nullif($2, ''), '-1')::bigint", "sequence"
#define KEY_OF_CHUNK                                                                                                   \
	"operation_id || ':' || start",                                                                                \
		"operation_id = split_part($1, ':', 1) and start = split_part($1, ':', 2)::bigint",                    \
		"(operation_id, start) > (split_part($2, ':', 1), "                                                    \
		"coalesce(nullif(split_part($2, ':', 2), ''), '-1')::bigint)",                                         \
		"operation_id, start"

/* `bound_to`: the context of the seal. */
#define SEALED(table, ...) SEALED_ROWS(table, __VA_ARGS__)
#define SEALED_ROWS(table, key, match, behind, order, column, bound_to, how)                                           \
	{                                                                                                              \
		.name = table "." column, .reseal = (how),                                                             \
		.count = "select " NUMBER_OF(column) " as number, count(*) as count from " table " where " column      \
						     " is not null group by 1",                                        \
		.page = "select " key " as key, coalesce(octet_length(" column "), 0) as size, " IS_OLD(               \
			column) " as old from " table " where " behind " order by " order " limit $3",                 \
		.read = "select " bound_to " as context, " column " as sealed from " table " where " match             \
			" and substring(" column " from 1 for 4) <> $2::bytea for no key update",                      \
		.write = "update " table " set " column " = $2 where " match,                                          \
	}
#define SEALED_BY_ID(table, column, bound_to) SEALED(table, KEY_OF("id"), column, bound_to, reseal)

/* The parameters of policy sets, in the bundles of evaluations. */
#define PARAMETERS                                                                                                     \
	"jsonb_array_elements(bundle) s, jsonb_array_elements(coalesce(s->'parameters', '[]')) p, "                    \
	"lateral (select decode(p->>'sealed', 'base64') as sealed) d where d.sealed is not null"

static int reseal(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err);
static int bundle_reseal(
	struct store *store, const char *context, struct bytes sealed, struct buf *ret_sealed, struct err *err);

static const struct sealed_kind kinds[] = {
	SEALED_BY_ID("ssh_keys", "value_sealed", "id"),
	SEALED_BY_ID("variables", "value_sealed", "id"),
	SEALED_BY_ID("policy_set_parameters", "value_sealed", "id"),
	SEALED_BY_ID("tasks", "hmac_sealed", "'task-hmac-key'"),
	SEALED_BY_ID("task_results", "hmac_sealed", "'task-hmac-key'"),
	SEALED_BY_ID("notification_configurations", "url_sealed", "'notification-url'"),
	SEALED_BY_ID("notification_configurations", "token_sealed", "'notification-token'"),
	SEALED("notification_responses", KEY_OF_RESPONSE, "url_sealed", "'notification-url'", reseal),
	SEALED("run_inputs", KEY_OF("run_id"), "variables_sealed", "run_id", reseal),
	SEALED("run_inputs", KEY_OF("run_id"), "snapshot_sealed", "run_id", reseal),
	SEALED("log_chunks", KEY_OF_CHUNK, "bytes_sealed", "'log:' || operation_id || ':' || start", reseal),
	SEALED_BY_ID("unrecorded_resources", "resource_id_sealed", "'unrecorded:' || digest"),
	SEALED_BY_ID("state_version_outputs", "value_sealed", "id"),
	SEALED("rescues", KEY_OF("object_key"), "key_sealed", "object_key", reseal),
	SEALED("state_bases", KEY_OF("state_version_id"), "difference_sealed", "state_version_id || ':' || blob_id",
		reseal),
	SEALED_BY_ID("vcs_connections", "secret_sealed", "'vcs-secret:' || id"),
	SEALED_BY_ID("vcs_connections", "private_key_sealed", "'vcs-private-key:' || id"),
	SEALED_BY_ID("vcs_tokens", "token_sealed", "'vcs-token:' || id"),
	SEALED_BY_ID("vcs_tokens", "refresh_sealed", "'vcs-refresh:' || id"),
	SEALED_BY_ID("vcs_tokens", "ssh_key_sealed", "'vcs-ssh-key:' || id"),
	SEALED_BY_ID("vcs_installations", "token_sealed", "'vcs-installation:' || id"),
	SEALED_BY_ID("vcs_hook_removals", "token_sealed", "'vcs-token:' || token_id"),
	SEALED_BY_ID("vcs_repositories", "hook_secret_sealed", "'vcs-hook:' || id"),
	SEALED_BY_ID("vcs_repositories", "hook_previous_sealed", "'vcs-hook:' || id"),
	SEALED("vcs_deliveries", KEY_OF_DELIVERY, "body_sealed", "delivery_id", reseal),
	SEALED("vcs_authorizations", KEY_OF("state_hash"), "verifier_sealed", "'vcs-verifier:' || state_hash", reseal),
	SEALED("blobs", KEY_OF("id"), "bytes_sealed", "id", blob_reseal),
	{.name = "policy_evaluations.bundle",
		.reseal = bundle_reseal,
		.text = true,
		.count = "select " NUMBER_OF(
			"d.sealed") " as number, count(*) as count from policy_evaluations, " PARAMETERS " group by 1",
		.page = "select id as key, octet_length(bundle::text) as size, exists (select 1 from " PARAMETERS
			" and substring(d.sealed from 1 for 4) <> $1::bytea) as old from policy_evaluations "
			"where id > $2 order by 1 limit $3",
		.read = "select id as context, bundle::text as sealed from policy_evaluations where id = $1 and exists "
			"(select 1 from " PARAMETERS
			" and substring(d.sealed from 1 for 4) <> $2::bytea) for no key update",
		.write = "update policy_evaluations set bundle = $2::jsonb where id = $1"},
};

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

static int row_rotate(const struct batch *b, const char *key, long long *count, struct err *err)
{
	struct store *store = b->rotation->store;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT), again = BUF_INIT(SEALED_LIMIT);
	const char *context;

	if (db_run_sql(store->db, &rows, err, b->kind->read,
		    (struct db_param[]){{.kind = P_NULL}, P_TEXT(key), P_BYTES(b->rotation->number, KEY_NUMBER_SIZE)},
		    3) < 0)
		return -1;
	if (!rows.count)
		return 0;
	context = row_text(&rows, 0, "context");
	if (b->kind->text)
		buf_text(&sealed, row_text(&rows, 0, "sealed"));
	else
		row_bytes(&rows, 0, "sealed", &sealed);
	if (b->kind->reseal(store, context, buf_bytes(&sealed), &again, err) < 0)
		return err_context(err, "%s of '%s'", b->kind->name, key);
	++*count;
	if (b->kind->text)
		return db_run_sql(store->db, NULL, err, b->kind->write,
			(struct db_param[]){{.kind = P_NULL}, P_TEXT(key), P_TEXT(again.data)}, 3);
	return db_run_sql(store->db, NULL, err, b->kind->write,
		(struct db_param[]){{.kind = P_NULL}, P_TEXT(key), P_BYTES(again.data, again.len)}, 3);
}

static int batch_in(void *data, struct err *err)
{
	struct batch *b = data;

	b->count = 0;
	for (int i = b->from; i < b->until; i++)
		if (row_bool(b->page, i, "old") && row_rotate(b, row_text(b->page, i, "key"), &b->count, err) < 0)
			return -1;
	return 0;
}

/* Sets `until` behind the next rows that are not too many for one transaction. Returns how many of them are old. */
static int batch_extend(struct batch *b)
{
	long long bytes = 0;
	int old = 0;

	for (b->until = b->from; b->until < b->page->count && old < BATCH_ROWS && bytes < BATCH_BYTES; b->until++)
		if (row_bool(b->page, b->until, "old")) {
			bytes += row_int(b->page, b->until, "size");
			old++;
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

		if (db_run_sql(r->store->db, &page, err, kind->page,
			    (struct db_param[]){{.kind = P_NULL}, P_BYTES(r->number, KEY_NUMBER_SIZE), P_TEXT(after),
				    P_INT(PAGE_ROWS)},
			    4) < 0 ||
			page_rotate(r, kind, &page, err) < 0)
			return -1;
		more = page.count == PAGE_ROWS;
		if (more) {
			free(after);
			after = mem_text(row_text(&page, page.count - 1, "key"));
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

/* Links are signed for up to three days (auth/signed.c). */
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

	if (db_run_sql(store->db, &rows, err, kind->count, (struct db_param[]){{.kind = P_NULL}}, 1) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		json_object_set_new(json_object_get(key_of(report, row_int(&rows, i, "number")), "rows"), kind->name,
			json_integer(row_int(&rows, i, "count")));
	return 0;
}

/* An object without a recorded key may be of any. */
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

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		json_int_t count = json_integer_value(json_object_get(counts, kinds[i].name));

		json_object_set_new(counts, kinds[i].name, json_integer(count));
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
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kind_count(store, &kinds[i], report, err) < 0)
			return -1;
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
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		long long before = r->count;

		if (kind_rotate(r, &kinds[i], err) < 0)
			return -1;
		_cleanup_(freep) char *count = mem_printf("%lld", r->count - before);
		if (r->count > before)
			log_info("sealed again", "what", kinds[i].name, "count", count, NULL);
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
