/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/uploads.h"

#include "scheduler/store/content/blob_batch.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/runs/uploads.sql.h"

/* A plan's outputs: the kinds in the table operation_blobs. */
enum kept { KEPT_PLAN, KEPT_JSON, KEPT_INIT, KEPT_SCHEMAS, KEPT_PACKAGES, KEPT_COUNT };
static const char *const kept_kinds[KEPT_COUNT] = {"plan", "json", "init", "schemas", "packages"};

/* A plan's or an apply's row, and its updates. An empty id: none. */
struct target {
	struct id id;
	long long log_length;
	bool grown;
	struct id kept[KEPT_COUNT];
	bool generated;
};

struct keeping {
	struct store *store;
	struct upload *uploads;
	size_t count;
	int (*accept)(struct store *store, struct state_write *const *writes, size_t count, struct err *err);
	struct target *targets;
	size_t target_count;
	struct blob_batch blobs;
	struct chunk_batch chunks;
};

struct upload *upload_add(struct upload_list *list)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 8;
		list->items = mem_resize(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count] = (struct upload){.job = NULL};
	return &list->items[list->count++];
}

void upload_list_release(struct upload_list *list)
{
	free(list->items);
	*list = (struct upload_list){.items = NULL};
}

/* ---- states ---- */

static bool is_state(const struct upload *upload)
{
	return upload->kind == UPLOAD_STATE || upload->kind == UPLOAD_STATE_DIFFERENCE;
}

/* Runs first, since workspaces are always locked before jobs. */
static int states_keep(struct keeping *k, struct err *err)
{
	_cleanup_(freep) struct state_write **writes = mem_new(k->count, sizeof(struct state_write *));
	size_t count = 0;

	for (size_t i = 0; i < k->count; i++) {
		struct upload *upload = &k->uploads[i];

		if (!is_state(upload))
			continue;
		upload->state = (struct state_write){.job_id = upload->job,
			.token_hash = upload->token_hash,
			.base = upload->base,
			.difference = upload->difference,
			.bytes = upload->bytes,
			.len = upload->len};
		writes[count++] = &upload->state;
	}
	if (count && k->accept(k->store, writes, count, err) < 0)
		return -1;
	for (size_t i = 0; i < k->count; i++)
		if (is_state(&k->uploads[i]))
			k->uploads[i].err = k->uploads[i].state.err;
	return 0;
}

/* ---- the rows ---- */

/* Runs before the other uploads, since jobs are always locked before operations. */
/* model: start */
static int mark_started(struct keeping *k, struct err *err)
{
	_cleanup_(db_array_release) struct db_array jobs = DB_ARRAY_INIT, hashes = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < k->count; i++)
		if (k->uploads[i].kind == UPLOAD_STARTED) {
			db_array_add(&jobs, k->uploads[i].job);
			db_array_add(&hashes, k->uploads[i].token_hash);
			err_set(&k->uploads[i].err, ERR_CONFLICT, "the attempt is to stop, or is over");
		}
	if (!jobs.count)
		return 0;
	if (db_query(k->store->db, &rows, err, uploads_started, .jobs = &jobs, .hashes = &hashes) < 0)
		return -1;
	for (size_t i = 0; i < k->count; i++)
		for (int row = 0; row < rows.count && k->uploads[i].kind == UPLOAD_STARTED; row++)
			if (text_equal(k->uploads[i].job, row_of(uploads_started, &rows, row)->id))
				k->uploads[i].err = (struct err)ERR_INIT;
	return 0;
}

static bool has_target(const struct upload *upload)
{
	return !is_state(upload);
}

static int rows_lock(struct keeping *k, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array jobs = DB_ARRAY_INIT, hashes = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array logs = DB_ARRAY_INIT, blobs = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array plans = DB_ARRAY_INIT, jsons = DB_ARRAY_INIT;
	bool any = false;

	for (size_t i = 0; i < k->count; i++) {
		const struct upload *upload = &k->uploads[i];
		bool named = upload->kind == UPLOAD_SCHEMAS_NAMED;

		db_array_add(&jobs, has_target(upload) ? upload->job : NULL);
		any |= has_target(upload);
		db_array_add(&hashes, upload->token_hash);
		db_array_add_bool(&logs, upload->kind == UPLOAD_LOG);
		db_array_add(&plans, upload->plan);
		db_array_add_bool(&jsons, upload->kind == UPLOAD_PLAN_JSON);
		db_array_add(&blobs, named ? blob_shared_id(k->store, upload->digest).text : NULL);
	}
	if (!any)
		return 0;
	return db_query(k->store->db, ret_rows, err, uploads_lock, .jobs = &jobs, .hashes = &hashes, .logs = &logs,
		.blobs = &blobs, .plans = &plans, .jsons = &jsons);
}

/* The rows are sorted by id. */
static struct target *target_of(struct keeping *k, const struct uploads_lock_row *row)
{
	const char *id = row->id;
	struct target *targets = k->targets;
	size_t count = k->target_count;

	if (count && text_equal(targets[count - 1].id.text, id))
		return &targets[count - 1];
	targets[count] = (struct target){.log_length = row->log_length};
	text_copy(targets[count].id.text, ID_SIZE, id);
	k->target_count++;
	return &targets[count];
}

/* ---- one upload ---- */

static int log_take(struct keeping *k, struct upload *upload, struct target *target, long long base, struct err *err)
{
	long long known = target->log_length - (base + upload->offset);
	size_t fresh;

	if (known < 0) {
		upload->length = target->log_length - base;
		err_set(&upload->err, ERR_CONFLICT, "the log is %lld bytes long", upload->length);
		return 0;
	}
	if ((size_t)known >= upload->len)
		return 0;
	fresh = upload->len - (size_t)known;
	if (chunks_add(&k->chunks, k->store,
		    &(struct log_piece){
			    target->id.text, target->log_length, (const char *)upload->bytes + known, fresh},
		    err) < 0)
		return -1;
	target->log_length += (long long)fresh;
	target->grown = true;
	return 0;
}

/* The target's field for such a blob, and whether many rows share the blob. */
static struct id *blob_place(struct target *target, enum upload_kind kind, bool *ret_shared)
{
	*ret_shared = kind == UPLOAD_INIT || kind == UPLOAD_SCHEMAS || kind == UPLOAD_PACKAGES;
	switch (kind) {
	case UPLOAD_PLAN:
		return &target->kept[KEPT_PLAN];
	case UPLOAD_PLAN_JSON:
		return &target->kept[KEPT_JSON];
	case UPLOAD_INIT:
		return &target->kept[KEPT_INIT];
	case UPLOAD_PACKAGES:
		return &target->kept[KEPT_PACKAGES];
	default:
		return &target->kept[KEPT_SCHEMAS];
	}
}

static int blob_take(struct keeping *k, const struct upload *upload, struct target *target, struct err *err)
{
	bool shared;
	struct id *place = blob_place(target, upload->kind, &shared);

	target->generated |= upload->generated;
	return (shared ? blob_add_shared : blob_add)(
		&k->blobs, k->store, (struct bytes){upload->bytes, upload->len}, place, err);
}

/* Sets the upload's own error; the other uploads continue. */
static int not_here(struct upload *upload)
{
	err_set(&upload->err, ERR_NOT_FOUND, "the content is not here");
	return 0;
}

static int upload_take(struct keeping *k, const struct uploads_lock_row *row, struct err *err)
{
	struct upload *upload = &k->uploads[row->n];
	struct target *target = target_of(k, row);
	bool started = upload->kind == UPLOAD_STARTED;

	if (!started)
		upload->err = (struct err)ERR_INIT;
	if (started)
		return 0;
	if (upload->kind == UPLOAD_LOG)
		return log_take(k, upload, target, row->log_base, err);
	if (upload->kind == UPLOAD_PLAN_JSON_ASKED)
		return row->has_json ? 0 : not_here(upload);
	if (upload->kind != UPLOAD_SCHEMAS_NAMED)
		return blob_take(k, upload, target, err);
	if (!row->blob_id)
		return not_here(upload);
	text_copy(target->kept[KEPT_SCHEMAS].text, ID_SIZE, row->blob_id);
	return 0;
}

/* ---- writing ---- */

struct log_growth {
	const struct outbox_sink *sink;
	json_t *ids;
};

static void growth_tell(void *data, bool committed)
{
	struct log_growth *growth = data;
	json_t *id;
	size_t i;

	json_array_foreach(growth->ids, i, id)
	{
		if (committed)
			growth->sink->log_grew(growth->sink->log_data, json_string_value(id));
	}
	json_decref(growth->ids);
	free(growth);
}

/* After the commit, tells the streams of this scheduler which logs have grown. */
static void growth_note(const struct keeping *k)
{
	const struct outbox_sink *sink = k->store->sink;
	struct log_growth *growth;

	if (!sink || !sink->log_grew)
		return;
	growth = mem_new(1, sizeof(*growth));
	*growth = (struct log_growth){sink, json_array()};
	for (size_t i = 0; i < k->target_count; i++)
		if (k->targets[i].grown)
			json_array_append_new(growth->ids, json_string(k->targets[i].id.text));
	db_after_commit(k->store->db, growth_tell, growth);
}

static int rows_update(struct keeping *k, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT, lengths = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array generated = DB_ARRAY_INIT;

	for (size_t i = 0; i < k->target_count; i++) {
		const struct target *target = &k->targets[i];

		if (!target->grown && !target->generated)
			continue;
		db_array_add(&ids, target->id.text);
		db_array_add_int(&lengths, target->log_length);
		db_array_add_bool(&generated, target->generated);
	}
	if (!ids.count)
		return 0;
	growth_note(k);
	return db_queue(k->store->db, err, uploads_update, .ids = &ids, .lengths = &lengths, .generated = &generated);
}

static int blobs_name(struct keeping *k, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT, kinds = DB_ARRAY_INIT, blobs = DB_ARRAY_INIT;

	for (size_t i = 0; i < k->target_count; i++)
		for (enum kept kept = 0; kept < KEPT_COUNT; kept++) {
			if (!k->targets[i].kept[kept].text[0])
				continue;
			db_array_add(&ids, k->targets[i].id.text);
			db_array_add(&kinds, kept_kinds[kept]);
			db_array_add(&blobs, k->targets[i].kept[kept].text);
		}
	if (!ids.count)
		return 0;
	return db_queue(k->store->db, err, uploads_name, .ids = &ids, .kinds = &kinds, .blobs = &blobs);
}

static int keep_all(struct keeping *k, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (states_keep(k, err) < 0 || mark_started(k, err) < 0 || rows_lock(k, &rows, err) < 0)
		return -1;
	for (int row = 0; row < rows.count; row++)
		if (upload_take(k, row_of(uploads_lock, &rows, row), err) < 0)
			return -1;
	if (blobs_insert(&k->blobs, k->store, err) < 0 || chunks_insert(&k->chunks, k->store, err) < 0)
		return -1;
	return rows_update(k, err) < 0 ? -1 : blobs_name(k, err);
}

/* Resets the results of an earlier try of the transaction. */
static int keep_run(void *data, struct err *err)
{
	struct keeping *k = data;
	int result;

	for (size_t i = 0; i < k->count; i++)
		err_set(&k->uploads[i].err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	k->target_count = 0;
	k->targets = mem_new(k->count, sizeof(*k->targets));
	k->blobs = (struct blob_batch)BLOB_BATCH_INIT;
	k->chunks = (struct chunk_batch)CHUNK_BATCH_INIT;
	result = keep_all(k, err);
	blob_batch_release(&k->blobs);
	chunk_batch_release(&k->chunks);
	free(k->targets);
	return result;
}

static void keep(struct keeping k)
{
	struct err err = ERR_INIT;

	if (!k.count || db_transaction(k.store->db, keep_run, &k, &err) == 0)
		return;
	for (size_t i = 0; i < k.count; i++) {
		k.uploads[i].err = err;
		k.uploads[i].state.left = false;
		if (k.count > 1 && err.kind != ERR_UNAVAILABLE)
			keep((struct keeping){
				.store = k.store, .uploads = &k.uploads[i], .count = 1, .accept = k.accept});
	}
}

void uploads_keep(struct store *store, struct upload *uploads, size_t count)
{
	keep((struct keeping){.store = store, .uploads = uploads, .count = count, .accept = states_accept_ready});
}

void uploads_keep_all(struct store *store, struct upload *uploads, size_t count)
{
	keep((struct keeping){.store = store, .uploads = uploads, .count = count, .accept = states_accept});
}

bool upload_left(const struct upload *upload)
{
	return is_state(upload) && upload->state.left;
}
