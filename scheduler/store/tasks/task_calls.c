/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_calls.h"

#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "proto/limits.h"
#include "scheduler/metrics.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/tasks/task_calls.sql.h"
#include "scheduler/store/tasks/task_payload.h"
#include "scheduler/store/tasks/task_payload.sql.h"
#include "scheduler/store/tasks/task_results.h"
#include "scheduler/store/tasks/task_results.sql.h"
#include "scheduler/store/content/seals.h"

enum { HMAC_KEY_LIMIT = 4096 };

/* ---- claim ---- */

struct claiming {
	struct store *store;
	const struct request_claim *claim;
	struct rows picked;
};

/* Derives the token from a key, and returns its digest too. */
static char *token_make(
	const struct store *store, size_t place, const char *task_result_id, char ret_hash[SHA256_HEX_SIZE])
{
	unsigned char key[32];
	char digest[SHA256_HEX_SIZE];
	char *token;

	keyring_derive(store->keyring, place, "task-token", key);
	crypto_hmac_hex(key, sizeof(key), task_result_id, digest);
	token = mem_printf(TASK_TOKEN_PREFIX "%s", digest);
	crypto_sha256_hex(token, strlen(token), ret_hash);
	return token;
}

/* All requests of a task result have the same token, also after a key rotation: a service that received two requests
 * may answer with either. The token is derived from a key, so the database has only its digest, `known`. NULL if it was
 * derived from a key that this scheduler lacks. The caller frees it. */
static char *token_of(const struct store *store, const char *id, const char *known, char ret_hash[SHA256_HEX_SIZE])
{
	for (size_t place = 0; place < keyring_count(store->keyring); place++) {
		char *token = token_make(store, place, id, ret_hash);

		if (!known || text_equal(known, ret_hash))
			return token;
		free(token);
	}
	return NULL;
}

bool task_token_key(const struct store *store, const char *task_result_id, const char *hash, uint32_t *ret_number)
{
	for (size_t place = 0; place < keyring_count(store->keyring); place++) {
		char made[SHA256_HEX_SIZE];

		free(token_make(store, place, task_result_id, made));
		if (!text_equal(made, hash))
			continue;
		*ret_number = keyring_number(store->keyring, place);
		return true;
	}
	return false;
}

/* Skips a result whose token this scheduler can't derive; another scheduler claims it. */
static char *hashes_of(const struct store *store, const struct rows *picked)
{
	json_auto_t *hashes = json_array();

	for (int i = 0; i < picked->count; i++) {
		const struct task_calls_waiting_row *result = row_of(task_calls_waiting, picked, i);
		char hash[SHA256_HEX_SIZE];
		_cleanup_(freep) char *token = token_of(store, result->id, result->token_hash, hash);

		if (token)
			json_array_append_new(hashes, json_pack("{ss ss}", "id", result->id, "hash", hash));
	}
	return json_text(hashes);
}

static int claim_run(void *data, struct err *err)
{
	struct claiming *c = data;
	_cleanup_(rows_release) struct rows found = ROWS_INIT;
	_cleanup_(freep) char *asked = json_text(c->claim->ids);
	_cleanup_(db_bytes_release) struct db_bytes keys = DB_BYTES_INIT;

	keys_numbers(c->store, &keys);
	rows_release(&c->picked);
	if (db_query(c->store->db, &found, err, task_calls_waiting, .asked = asked, .max = c->claim->max, .keys = &keys,
		    .forwards = c->claim->forwards) < 0)
		return -1;
	_cleanup_(freep) char *tokens = hashes_of(c->store, &found);
	return db_query(c->store->db, &c->picked, err, task_calls_claim, .tokens = tokens,
		.notifier = c->claim->notifier, .lease_seconds = c->store->settings->lease_seconds);
}

static int claimed_call(
	const struct claiming *c, const struct task_call_row *claimed, json_t **ret_call, struct err *err)
{
	_cleanup_(buf_release) struct buf key = BUF_INIT(HMAC_KEY_LIMIT);
	char hash[SHA256_HEX_SIZE];
	_cleanup_(freep) char *token = token_of(c->store, claimed->id, claimed->token_hash, hash);
	const struct task_address address = {
		.public_url = c->store->settings->public_url, .callback_url = c->claim->callback_url, .token = token};
	_cleanup_(freep) char *body = task_payload(claimed, &address);
	bool keyed = claimed->hmac_sealed.text;

	if (keyed && seal_open(c->store, TASK_KEY_CONTEXT, claimed->hmac_sealed, &key, err) < 0)
		return -1;
	*ret_call = json_pack("{ss si ss ss so ss sI so}", "id", claimed->id, "attempt", (int)claimed->attempt, "run",
		claimed->run_id, "url", claimed->target, "hmac-key", json_string_or_null(keyed ? buf_str(&key) : NULL),
		"body", body, "give-up-in-ms", (json_int_t)claimed->give_up_in_ms, "pool",
		json_string_or_null(claimed->pool_id));
	return *ret_call ? 0 : err_set(err, ERR_INTERNAL, "a task's request can't be written");
}

int task_calls_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err)
{
	struct claiming c = {.store = store, .claim = claim, .picked = ROWS_INIT};
	int result = db_transaction(store->db, claim_run, &c, err);

	/* A request whose key can't be opened must not block the others. It is claimed again when its lease expires,
	 * until it is given up. */
	for (int i = 0; result == 0 && i < c.picked.count; i++) {
		const struct task_call_row *claimed = row_of(task_call, &c.picked, i);
		struct err why = ERR_INIT;
		json_t *call = NULL;

		if (claimed_call(&c, claimed, &call, &why) == 0)
			json_array_append_new(requests, call);
		else
			log_error("a run task's request can't be sent", "task-result", claimed->id, "run",
				claimed->run_id, "error", why.message, NULL);
	}
	rows_release(&c.picked);
	return result;
}

/* ---- deliveries ---- */

static json_t *due_or_null(bool is_null, long long due_in_ms)
{
	return is_null ? json_null() : json_integer(due_in_ms);
}

struct delivering {
	struct store *store;
	const json_t *deliveries;
	struct rows rows;
};

/* Announces the results whose first try has failed. */
static int failing_announce(const struct delivering *d, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows failing = ROWS_INIT;
	_cleanup_(outbox_release) struct outbox outbox;
	const json_t *delivery;
	size_t i;

	outbox_init(&outbox);
	json_array_foreach((json_t *)d->deliveries, i, delivery)
	{
		if (!json_string_at(delivery, "end"))
			db_array_add(&ids, json_string_at(delivery, "id"));
	}
	if (ids.count && db_query(d->store->db, &failing, err, task_calls_failing, .ids = &ids) < 0)
		return -1;
	for (int row = 0; row < failing.count; row++)
		task_result_tell(&outbox, row_of(task_result_changed, &failing, row));
	return outbox_insert(&outbox, d->store->db, d->store->sink, err);
}

static int deliveries_run(void *data, struct err *err)
{
	struct delivering *d = data;
	const struct task_limits *limits = &d->store->settings->task_limits;
	_cleanup_(freep) char *text = json_text(d->deliveries);

	rows_release(&d->rows);
	if (db_query(d->store->db, &d->rows, err, task_calls_delivered, .deliveries = text,
		    .progress_seconds = limits->progress_seconds, .total_seconds = limits->total_seconds) < 0)
		return -1;
	return failing_announce(d, err);
}

int task_calls_delivered(struct store *store, const json_t *deliveries, json_t **ret_deliveries,
	struct db_array *decided, struct err *err)
{
	struct delivering d = {.store = store, .deliveries = deliveries, .rows = ROWS_INIT};
	int result = db_transaction(store->db, deliveries_run, &d, err);

	if (result == 0)
		*ret_deliveries = json_array();
	for (int i = 0; result == 0 && i < d.rows.count; i++) {
		const struct task_calls_delivered_row *call = row_of(task_calls_delivered, &d.rows, i);

		json_array_append_new(*ret_deliveries,
			json_pack("{ss so}", "id", call->id, "due-in-ms",
				due_or_null(call->due_in_ms_null, call->due_in_ms)));
		if (call->ended)
			db_array_add(decided, call->id);
	}
	rows_release(&d.rows);
	return result;
}

/* ---- callbacks ---- */

/* The callbacks, with each token replaced by its digest. */
static char *callbacks_hashed(const json_t *callbacks)
{
	json_auto_t *copy = json_array();
	const json_t *callback;
	size_t i;

	json_array_foreach((json_t *)callbacks, i, callback)
	{
		const char *token = text_or_empty(json_string_at(callback, "token"));
		json_t *one = json_copy((json_t *)callback);
		char hash[SHA256_HEX_SIZE];

		crypto_sha256_hex(token, strlen(token), hash);
		json_object_del(one, "token");
		json_object_set_new(one, "hash", json_string(hash));
		json_array_append_new(copy, one);
	}
	return json_text(copy);
}

struct calling_back {
	struct store *store;
	const json_t *callbacks;
	struct rows rows;
};

static int callbacks_run(void *data, struct err *err)
{
	struct calling_back *c = data;
	_cleanup_(freep) char *callbacks = callbacks_hashed(c->callbacks);
	json_auto_t *outcomes = json_array();
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	rows_release(&c->rows);
	if (db_query(c->store->db, &c->rows, err, task_calls_back, .callbacks = callbacks,
		    .progress_seconds = c->store->settings->task_limits.progress_seconds,
		    .outcomes = MAX_TASK_OUTCOMES) < 0)
		return -1;
	for (int i = 0; i < c->rows.count; i++) {
		const struct task_result_changed_row *result = row_of(task_result_changed, &c->rows, i);
		json_t *own = json_object_get(json_array_get(c->callbacks, (size_t)i), "outcomes");

		if (result->answer != 200)
			continue;
		task_result_tell(&outbox, result);
		if (json_array_size(own) && result->is_open)
			json_array_append_new(outcomes, json_pack("{ss sO}", "id", result->id, "outcomes", own));
	}
	if (outbox_insert(&outbox, c->store->db, c->store->sink, err) < 0)
		return -1;
	if (!json_array_size(outcomes))
		return 0;
	_cleanup_(freep) char *text = json_text(outcomes);
	return db_query(c->store->db, NULL, err, task_outcomes_keep, .results = text);
}

int task_calls_back(struct store *store, const json_t *callbacks, json_t **ret_callbacks, struct err *err)
{
	struct calling_back c = {.store = store, .callbacks = callbacks, .rows = ROWS_INIT};
	int result = db_transaction(store->db, callbacks_run, &c, err);

	if (result == 0)
		*ret_callbacks = json_array();
	for (int i = 0; result == 0 && i < c.rows.count; i++) {
		const struct task_result_changed_row *row = row_of(task_result_changed, &c.rows, i);

		json_array_append_new(*ret_callbacks,
			json_pack("{ss sI so so}", "task-result", row->id, "answer", (json_int_t)row->answer, "run",
				json_string_or_null(row->run_id), "due-in-ms",
				due_or_null(row->due_in_ms_null, row->due_in_ms)));
	}
	rows_release(&c.rows);
	return result;
}

int task_token_check(struct store *store, const char *task_result_id, const char *token, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	if (!token || !*token)
		return err_set(err, ERR_UNAUTHORIZED, "the request's access_token is needed as a bearer token");
	crypto_sha256_hex(token, strlen(token), hash);
	if (db_query(store->db, &rows, err, task_token_check, .task_result_id = task_result_id, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "there is no such task result");
	if (!row_of(task_token_check, &rows, 0)->own)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not this task result's");
	return 0;
}

/* ---- deadlines ---- */

int task_calls_late(struct store *store, const json_t *task_results, json_t **ret_late, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(task_results);

	if (db_query(store->db, &rows, err, task_calls_late, .results = text) < 0)
		return -1;
	*ret_late = json_array();
	for (int i = 0; i < rows.count; i++) {
		const struct task_calls_late_row *result = row_of(task_calls_late, &rows, i);

		if (result->seconds)
			metric_observe(M_TASKS_LATE, "", strtod(result->seconds, NULL));
		json_array_append_new(*ret_late,
			json_pack("{ss so so sb}", "task-result", result->id, "run",
				json_string_or_null(result->run_id), "due-in-ms",
				due_or_null(result->due_in_ms_null, result->due_in_ms), "reported", result->reported));
	}
	return 0;
}

int task_calls_deadlines(struct store *store, const char *after, int limit, json_t **ret_deadlines, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, task_calls_deadlines, .after = after, .limit = limit) < 0)
		return -1;
	*ret_deadlines = json_array();
	for (int i = 0; i < rows.count; i++) {
		const struct task_calls_deadlines_row *result = row_of(task_calls_deadlines, &rows, i);

		json_array_append_new(*ret_deadlines,
			json_pack("{ss so}", "task-result", result->id, "due-in-ms",
				due_or_null(result->due_in_ms_null, result->due_in_ms)));
	}
	return 0;
}
