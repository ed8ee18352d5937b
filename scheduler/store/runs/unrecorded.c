/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/unrecorded.h"

#include <string.h>

#include "common/crypto.h"
#include "common/json/json.h"
#include "common/terraform/applied.h"
#include "scheduler/store/content/contents.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/runs/unrecorded.sql.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_parse.h"
#include "scheduler/store/content/seals.h"

enum { CONTEXT_SIZE = 96, SEALED_LIMIT = 64 << 20 };

static void id_context(const char *digest, char ret_context[CONTEXT_SIZE])
{
	snprintf(ret_context, CONTEXT_SIZE, "unrecorded:%s", digest);
}

/* ---- writing ---- */

/* The rows to insert, as columns. */
struct listing {
	struct db_array ids, digests, actions, addresses, types, providers;
	struct db_bytes sealed;
};

static void listing_release(struct listing *listing)
{
	struct db_array *arrays[] = {&listing->ids, &listing->digests, &listing->actions, &listing->addresses,
		&listing->types, &listing->providers};

	for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
		db_array_release(arrays[i]);
	db_bytes_release(&listing->sealed);
}

static const char *bounded(const json_t *item, const char *name)
{
	const char *text = text_or_empty(json_string_at(item, name));

	return strlen(text) <= APPLIED_TEXT_MAX ? text : "";
}

static bool action_valid(const char *action)
{
	static const char *const words[] = {"create", "update", "delete"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_equal(words[i], action))
			return true;
	return false;
}

static int listing_add(
	struct store *store, const char *job_id, const json_t *item, struct listing *listing, struct err *err)
{
	const char *action = bounded(item, "action"), *address = bounded(item, "address"), *id = bounded(item, "id");
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *whole = mem_printf("%s\n%s\n%s\n%s", job_id, action, address, id);
	char digest[SHA256_HEX_SIZE], context[CONTEXT_SIZE];

	if (!action_valid(action) || !applied_address_valid(address))
		return 0;
	crypto_sha256_hex(whole, strlen(whole), digest);
	id_context(digest, context);
	seal_text(store, context, id, &sealed);
	if (db_bytes_add(&listing->sealed, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "too many bytes of unrecorded resources");
	db_array_add(&listing->ids, id_new("ur").text);
	db_array_add(&listing->digests, digest);
	db_array_add(&listing->actions, action);
	db_array_add(&listing->addresses, address);
	db_array_add(&listing->types, bounded(item, "type"));
	db_array_add(&listing->providers, bounded(item, "provider"));
	return 0;
}

struct putting {
	struct store *store;
	const struct unrecorded_job *job;
	struct listing *listing;
	bool of_log; /* from the log; the worker's own list takes precedence if it has arrived */
};

/* *ret_first is false if the reports were compared before. */
static int of_log_begin(const struct putting *p, bool *ret_first, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(p->store->db, &rows, err, unrecorded_compare_begin, .job_id = p->job->job_id) < 0)
		return -1;
	*ret_first = rows.count > 0;
	return 0;
}

static int open_replace(const struct putting *p, struct err *err)
{
	return db_query(
		p->store->db, NULL, err, unrecorded_drop, .job_id = p->job->job_id, .digests = &p->listing->digests);
}

/* ret_rows: one row per new resource. */
static int rows_insert(const struct putting *p, struct rows *ret_rows, struct err *err)
{
	struct listing *l = p->listing;

	if (!l->ids.count)
		return 0;
	return db_query(p->store->db, ret_rows, err, unrecorded_insert, .job_id = p->job->job_id,
		.run_id = p->job->run_id, .workspace_id = p->job->workspace_id, .ids = &l->ids, .digests = &l->digests,
		.actions = &l->actions, .addresses = &l->addresses, .types = &l->types, .providers = &l->providers,
		.sealed_ids = &l->sealed);
}

static int put_in(void *data, struct err *err)
{
	const struct putting *p = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = NULL;
	bool first = true;

	if (p->of_log && of_log_begin(p, &first, err) < 0)
		return -1;
	if (!first)
		return 0;
	if (open_replace(p, err) < 0 || rows_insert(p, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	text = mem_printf(
		"The apply reported %s%d resources that are not in its last state. The workspace is held until "
		"they are dismissed: see /api/v2/runs/%s/unrecorded-resources.",
		rows.count == APPLIED_MISSING_MAX ? "at least " : "", rows.count, p->job->run_id);
	return run_event_describe(p->store, p->job->run_id, "resources-unrecorded", text, err);
}

static int put(
	struct store *store, const struct unrecorded_job *job, const json_t *resources, bool of_log, struct err *err)
{
	_cleanup_(listing_release) struct listing listing = {.ids = DB_ARRAY_INIT,
		.digests = DB_ARRAY_INIT,
		.actions = DB_ARRAY_INIT,
		.addresses = DB_ARRAY_INIT,
		.types = DB_ARRAY_INIT,
		.providers = DB_ARRAY_INIT,
		.sealed = DB_BYTES_INIT};
	struct putting putting = {store, job, &listing, of_log};
	const json_t *item;
	size_t i;

	json_array_foreach(resources, i, item)
	{
		if (i < APPLIED_MISSING_MAX && listing_add(store, job->job_id, item, &listing, err) < 0)
			return -1;
	}
	return db_transaction(store->db, put_in, &putting, err);
}

int unrecorded_put(struct store *store, const struct unrecorded_job *job, const json_t *resources, struct err *err)
{
	return put(store, job, resources, false, err);
}

int unrecorded_give_up(struct store *store, const struct unrecorded_job *job, struct err *err)
{
	return put(store, job, NULL, true, err);
}

int unrecorded_is_open(struct store *store, const char *job_id, bool *ret_open, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, unrecorded_is_open, .job_id = job_id) < 0)
		return -1;
	*ret_open = rows.count > 0;
	return 0;
}

/* ---- applies of lost workers ---- */

enum { MAX_LOG = 256 << 20, LOG_PIECE = 1 << 20 };

int unrecorded_due(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, unrecorded_due, .max = max);
}

/* Lines longer than a piece are skipped: they are no reports. */
static int log_compare(struct store *store, const char *operation_id, struct applied *applied, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(2 * LOG_PIECE);
	struct log_range range = {operation_id, .offset = 1, .limit = LOG_PIECE};

	while (range.offset < MAX_LOG) {
		size_t before = text.len;
		const char *end;

		if (log_read(store, &range, &text, err) < 0)
			return -1;
		if (text.len == before)
			return 0;
		range.offset += (long long)(text.len - before);
		end = memrchr(text.data, '\n', text.len);
		if (end) {
			size_t len = (size_t)(end + 1 - text.data);

			applied_text(applied, text.data, len);
			buf_consume(&text, len);
		} else {
			buf_reset(&text);
		}
	}
	return 0;
}

/* Appends nothing if the workspace has no state. */
static int current_read(struct store *store, const char *workspace_id, struct buf *out, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, unrecorded_state, .workspace_id = workspace_id) < 0)
		return -1;
	if (!rows.count || !row_of(unrecorded_state, &rows, 0)->id)
		return 0;
	return state_content(store, row_of(unrecorded_state, &rows, 0)->id, out, err);
}

struct comparing {
	const struct unrecorded_job *job;
	json_t *missing;
};

static int compare(struct store *reading, void *data, struct err *err)
{
	struct comparing *c = data;
	_cleanup_(applied_freep) struct applied *applied = applied_new();
	_cleanup_(freep) char *operation = mem_printf("apply%s", c->job->run_id + strlen("run"));
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(SEALED_LIMIT * 8);

	if (log_compare(reading, operation, applied, err) < 0 ||
		current_read(reading, c->job->workspace_id, &bytes, err) < 0)
		return -1;
	c->missing = applied_missing(applied, (struct json_span){buf_str(&bytes), bytes.len});
	return 0;
}

int unrecorded_compare(struct store *store, struct objects *objects, const struct unrecorded_job *job, struct err *err)
{
	struct comparing c = {.job = job};
	int result;

	if (contents_read(store, objects, compare, &c, NULL, err) < 0)
		return -1;
	result = put(store, job, c.missing, true, err);
	json_decref(c.missing);
	return result;
}

/* ---- reading ---- */

int unrecorded_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, unrecorded_of_run, .run_id = run_id);
}

int unrecorded_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, unrecorded_view, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "unrecorded resource not found");
}

int unrecorded_resource_id(
	struct store *store, const struct unrecorded_row *resource, struct buf *ret_text, struct err *err)
{
	char context[CONTEXT_SIZE];

	id_context(resource->digest, context);
	return seal_open(store, context, resource->resource_id_sealed, ret_text, err);
}

/* ---- dismissing ---- */

int unrecorded_dismiss(struct store *store, const struct dismissal *dismissal, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, NULL, err, unrecorded_lock, .run_id = dismissal->run_id) < 0 ||
		db_query(store->db, &rows, err, unrecorded_dismiss, .run_id = dismissal->run_id, .ids = dismissal->ids,
			.actor = dismissal->actor) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT, "no unrecorded resource is open: it was dismissed before");
	return db_query(store->db, ret_rows, err, unrecorded_released, .run_id = dismissal->run_id);
}
