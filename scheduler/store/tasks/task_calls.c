/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_calls.h"

#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/tasks/task_payload.h"
#include "scheduler/store/tasks/task_results.h"
#include "scheduler/store/content/seals.h"

enum { HMAC_KEY_LIMIT = 4096 };

/* ---- claim ---- */

struct claiming {
	struct store *store;
	const struct request_claim *claim;
	struct rows picked;
	char *tokens; /* a JSON array of {id, hash} */
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
 * may answer with either. The token is derived from a key, so the database has only its digest. NULL if it was derived
 * from a key that this scheduler lacks. The caller frees it. */
static char *token_of(const struct store *store, const struct rows *rows, int row, char ret_hash[SHA256_HEX_SIZE])
{
	const char *id = row_text(rows, row, "id"), *known = row_text(rows, row, "token_hash");

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
		char hash[SHA256_HEX_SIZE];
		_cleanup_(freep) char *token = token_of(store, picked, i, hash);

		if (token)
			json_array_append_new(
				hashes, json_pack("{ss ss}", "id", row_text(picked, i, "id"), "hash", hash));
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
	if (db_query(c->store->db, &found, err,
		    "select id, token_hash from task_results where delivery = 'waiting' and "
		    "(jsonb_array_length($1::jsonb) = 0 "
		    "or id in (select jsonb_array_elements_text($1::jsonb))) and (" KEY_IS_MISSING(
			    "hmac_sealed", "$3") ") is not true order by created_at limit $2 for update skip locked",
		    P_TEXT(asked), P_INT(c->claim->max), P_BYTES_ARRAY(&keys)) < 0)
		return -1;
	_cleanup_(freep) char *hashes = hashes_of(c->store, &found);
	return db_query(c->store->db, &c->picked, err,
		"update task_results r set delivery = 'claimed', attempt = attempt + 1, notifier = $2, token_hash = "
		"u.hash, "
		"lease_until = now() + make_interval(secs => $3), updated_at = now() "
		"from jsonb_to_recordset($1::jsonb) as u(id text, hash text), " TASK_PAYLOAD_TABLES
		"where r.id = u.id and " TASK_PAYLOAD_JOINS "returning r.attempt, r.task_url as target, r.hmac_sealed, "
		"r.token_hash, "
		"greatest(extract(epoch from r.give_up_at - now()) * 1000, 0)::bigint as "
		"give_up_in_ms, " TASK_PAYLOAD_COLUMNS,
		P_TEXT(hashes), P_TEXT(c->claim->notifier), P_INT(c->store->settings->lease_seconds));
}

static int claimed_call(struct claiming *c, int row, json_t **ret_call, struct err *err)
{
	_cleanup_(buf_release) struct buf key = BUF_INIT(HMAC_KEY_LIMIT);
	char hash[SHA256_HEX_SIZE];
	_cleanup_(freep) char *token = token_of(c->store, &c->picked, row, hash);
	const struct task_address address = {
		.public_url = c->store->settings->public_url, .callback_url = c->claim->callback_url, .token = token};
	_cleanup_(freep) char *body = task_payload(&c->picked, row, &address);
	bool keyed = !row_null(&c->picked, row, "hmac_sealed");

	if (keyed &&
		seal_open(c->store, TASK_KEY_CONTEXT, (struct sealed_column){&c->picked, row, "hmac_sealed"}, &key,
			err) < 0)
		return -1;
	*ret_call = json_pack("{ss si ss ss so ss sI}", "id", row_text(&c->picked, row, "id"), "attempt",
		(int)row_int(&c->picked, row, "attempt"), "run", row_text(&c->picked, row, "run_id"), "url",
		row_text(&c->picked, row, "target"), "hmac-key", json_string_or_null(keyed ? buf_str(&key) : NULL),
		"body", body, "give-up-in-ms", (json_int_t)row_int(&c->picked, row, "give_up_in_ms"));
	return *ret_call ? 0 : err_set(err, ERR_INTERNAL, "a task's request can't be written");
}

int task_calls_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err)
{
	struct claiming c = {.store = store, .claim = claim, .picked = ROWS_INIT};
	int result = db_transaction(store->db, claim_run, &c, err);

	/* A request whose key can't be opened must not block the others. It is claimed again when its lease expires,
	 * until it is given up. */
	for (int i = 0; result == 0 && i < c.picked.count; i++) {
		struct err why = ERR_INIT;
		json_t *call = NULL;

		if (claimed_call(&c, i, &call, &why) == 0)
			json_array_append_new(requests, call);
		else
			log_error("a run task's request can't be sent", "task-result", row_text(&c.picked, i, "id"),
				"run", row_text(&c.picked, i, "run_id"), "error", why.message, NULL);
	}
	rows_release(&c.picked);
	return result;
}

/* ---- deliveries ---- */

static json_t *due_or_null(const struct rows *rows, int row)
{
	return row_null(rows, row, "due_in_ms") ? json_null() : json_integer(row_int(rows, row, "due_in_ms"));
}

/* The rows that `said` names, found by the primary key (db/db.h, "plans"). */
#define NAMED "r.id = any(array(select id from said)) "

#define DUE_IN_MS "greatest(extract(epoch from r.due_at - now()) * 1000, 0)::bigint"

/* Returns the deliveries in their order: when the task is due, if it was acknowledged, and whether it ended. Logs every
 * delivery; changes only results whose current attempt it is. */
static const char deliveries_sql[] =
	"with said as (select * from rows from (jsonb_to_recordset($1::jsonb) as (id text, "
	"attempt integer, status integer, seconds double precision, answer text, error text, \"end\" "
	"text)) "
	"with ordinality as u(id, attempt, status, seconds, answer, error, ended, ord)), "
	"logged as (insert into task_deliveries (task_result_id, status, seconds, answer, error) "
	"select s.id, s.status, s.seconds, left(s.answer, 1024), left(s.error, 500) from said s "
	"join task_results r on r.id = s.id where " NAMED "), "
	"began as (update task_results r set delivery = 'acknowledged', status = 'running', "
	"status_timestamps = case when r.status = 'pending' then r.status_timestamps || "
	"jsonb_build_object('running-at', to_char(now() at time zone 'UTC', "
	"'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')) "
	"else r.status_timestamps end, due_at = now() + make_interval(secs => $2), "
	"last_at = now() + make_interval(secs => $3), updated_at = now() from said s where r.id = s.id "
	"and " NAMED "and r.attempt = s.attempt and r.delivery = 'claimed' and s.ended = 'acknowledged' "
	"and r.status in ('pending', 'running') returning r.id, " DUE_IN_MS " as due_in_ms), "
	"ended as (update task_results r set delivery = 'over', updated_at = now(), reported = "
	"jsonb_build_object("
	"'status', case when exists (select 1 from task_deliveries d where d.task_result_id = r.id and "
	"d.status > 0) "
	"or s.status > 0 then 'failed' else 'unreachable' end, 'message', "
	"'The request could not be delivered: ' || coalesce(s.error, 'status ' || s.status)) from said s "
	"where r.id = s.id and r.attempt = s.attempt and r.delivery = 'claimed' and " NAMED "and s.ended = "
	"'gave-up' "
	"and r.status in ('pending', 'running') returning r.id) "
	"select s.id, b.due_in_ms, e.id is not null as ended from said s left join began b on b.id = s.id "
	"left join ended e on e.id = s.id order by s.ord";

int task_calls_delivered(struct store *store, const json_t *deliveries, json_t **ret_deliveries,
	struct db_array *decided, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(deliveries);

	if (db_query(store->db, &rows, err, deliveries_sql, P_TEXT(text),
		    P_INT(store->settings->task_limits.progress_seconds),
		    P_INT(store->settings->task_limits.total_seconds)) < 0)
		return -1;
	*ret_deliveries = json_array();
	for (int i = 0; i < rows.count; i++) {
		json_array_append_new(*ret_deliveries,
			json_pack("{ss so}", "id", row_text(&rows, i, "id"), "due-in-ms", due_or_null(&rows, i)));
		if (row_bool(&rows, i, "ended"))
			db_array_add(decided, row_text(&rows, i, "id"));
	}
	return 0;
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

/*
 * Returns the callbacks in their order, each with its run and the status code of its answer.
 *
 * `running` reports progress and extends the deadline. `passed` and `failed` are final. A repetition of the final
 * status is accepted, since a service may retry without an answer. Any other callback after the end is 409.
 */
static const char callbacks_sql[] =
	"with said as (select * from rows from (jsonb_to_recordset($1::jsonb) as (\"task-result\" text, hash text, "
	"status text, message text, url text, outcomes jsonb)) with ordinality as u(id, hash, status, message, url, "
	"outcomes, ord)), "
	"open as (select distinct on (r.id) r.id, s.ord, s.status, s.message, s.url, s.outcomes from task_results r "
	"join said s on s.id = r.id and s.hash = r.token_hash where " NAMED "and r.status in ('pending', 'running') "
	"and r.reported is null order by r.id, (s.status <> 'running') desc, s.ord), "
	"taken as (update task_results r set status = 'running', message = coalesce(o.message, r.message), "
	"url = coalesce(o.url, r.url), updated_at = now(), "
	"due_at = case when o.status = 'running' and r.delivery = 'acknowledged' "
	"then least(now() + make_interval(secs => $2), r.last_at) else r.due_at end, "
	"delivery = case when o.status = 'running' then r.delivery else 'over' end, "
	"reported = case when o.status = 'running' then null else jsonb_build_object('status', o.status, "
	"'message', o.message, 'url', o.url) end from open o where r.id = o.id and " NAMED "and r.reported is null "
	"and r.status in ('pending', 'running') returning r.id, o.ord, case when o.status = 'running' "
	"then " DUE_IN_MS " end as due_in_ms) "
	"select s.id, r.run_id, n.workspace_id, n.organization_id, t.due_in_ms, case when r.id is null then 404 when "
	"r.token_hash is distinct from s.hash "
	"then 401 when t.id is not null then 200 when coalesce(r.reported ->> 'status', r.status) = s.status then 200 "
	"when s.status = 'running' and r.reported is null and r.status in ('pending', 'running') then 200 "
	"else 409 end as answer from said s left join task_results r on r.id = s.id and " NAMED
	"left join taken t on t.id = s.id and t.ord = s.ord left join runs n on n.id = r.run_id order by s.ord";

/* An outcome replaces the earlier one with the same id. A new outcome is appended. */
static int outcomes_keep(struct store *store, const char *callbacks, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into task_result_outcomes (id, task_result_id, position, outcome_id, description, url, tags, "
		"body) "
		"select distinct on (u.id, e.o ->> 'outcome-id') "
		"'taskrsout-' || substr(md5(u.id || coalesce(e.o ->> 'outcome-id', '')), 1, 16), u.id, "
		"coalesce((select max(x.position) from task_result_outcomes x where x.task_result_id = u.id), 0) + "
		"e.n, "
		"coalesce(e.o ->> 'outcome-id', ''), coalesce(e.o ->> 'description', ''), e.o ->> 'url', "
		"coalesce(e.o -> 'tags', '{}'), e.o ->> 'body' "
		"from jsonb_to_recordset($1::jsonb) as u(id text, outcomes jsonb), "
		"jsonb_array_elements(u.outcomes) with ordinality as e(o, n) "
		"order by u.id, e.o ->> 'outcome-id', e.n desc on conflict (id) do update "
		"set description = excluded.description, url = excluded.url, tags = excluded.tags, body = "
		"excluded.body",
		P_TEXT(callbacks));
}

struct calling_back {
	struct store *store;
	const json_t *callbacks;
	struct rows rows;
};

static int callbacks_run(void *data, struct err *err)
{
	struct calling_back *c = data;
	_cleanup_(freep) char *said = callbacks_hashed(c->callbacks);
	json_auto_t *outcomes = json_array();
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	rows_release(&c->rows);
	if (db_query(c->store->db, &c->rows, err, callbacks_sql, P_TEXT(said),
		    P_INT(c->store->settings->task_limits.progress_seconds)) < 0)
		return -1;
	for (int i = 0; i < c->rows.count; i++) {
		json_t *own = json_object_get(json_array_get(c->callbacks, (size_t)i), "outcomes");

		if (row_int(&c->rows, i, "answer") != 200)
			continue;
		task_result_tell(&outbox, &c->rows, i);
		if (json_array_size(own))
			json_array_append_new(
				outcomes, json_pack("{ss sO}", "id", row_text(&c->rows, i, "id"), "outcomes", own));
	}
	if (outbox_insert(&outbox, c->store->db, c->store->sink, err) < 0)
		return -1;
	if (!json_array_size(outcomes))
		return 0;
	_cleanup_(freep) char *text = json_text(outcomes);
	return outcomes_keep(c->store, text, err);
}

int task_calls_back(struct store *store, const json_t *callbacks, json_t **ret_callbacks, struct err *err)
{
	struct calling_back c = {.store = store, .callbacks = callbacks, .rows = ROWS_INIT};
	int result = db_transaction(store->db, callbacks_run, &c, err);

	if (result == 0) {
		*ret_callbacks = json_array();
		for (int i = 0; i < c.rows.count; i++)
			json_array_append_new(*ret_callbacks,
				json_pack("{ss sI so so}", "task-result", row_text(&c.rows, i, "id"), "answer",
					(json_int_t)row_int(&c.rows, i, "answer"), "run",
					json_string_or_null(row_text(&c.rows, i, "run_id")), "due-in-ms",
					due_or_null(&c.rows, i)));
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
	if (db_query(store->db, &rows, err,
		    "select token_hash is not distinct from $2 as own from task_results where id = $1",
		    P_TEXT(task_result_id), P_TEXT(hash)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "there is no such task result");
	if (!row_bool(&rows, 0, "own"))
		return err_set(err, ERR_UNAUTHORIZED, "the token is not this task result's");
	return 0;
}

/* ---- deadlines ---- */

int task_calls_late(struct store *store, const json_t *task_results, json_t **ret_late, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(task_results);

	if (db_query(store->db, &rows, err,
		    "with said as (select id, ord from jsonb_array_elements_text($1::jsonb) with ordinality as u(id, "
		    "ord)), "
		    "late as (update task_results r set delivery = 'over', updated_at = now(), reported = "
		    "jsonb_build_object("
		    "'status', 'failed', 'message', case when r.due_at >= r.last_at then "
		    "'The task did not end within its total time limit.' else "
		    "'No answer: the service sent no progress within its time limit.' end) from said s where r.id = "
		    "s.id "
		    "and " NAMED
		    "and r.delivery = 'acknowledged' and r.reported is null and r.due_at <= now() returning r.id, "
		    "extract(epoch from now() - r.due_at) as seconds) "
		    "select s.id, r.run_id, l.id is not null as reported, l.seconds, case when l.id is null and "
		    "r.delivery = "
		    "'acknowledged' "
		    "then " DUE_IN_MS " end as due_in_ms from said s left join task_results r on r.id = s.id and " NAMED
		    "left join late l on l.id = s.id order by s.ord",
		    P_TEXT(text)) < 0)
		return -1;
	*ret_late = json_array();
	for (int i = 0; i < rows.count; i++) {
		if (!row_null(&rows, i, "seconds"))
			metric_observe(M_TASKS_LATE, "", strtod(row_text(&rows, i, "seconds"), NULL));
		json_array_append_new(*ret_late,
			json_pack("{ss so so sb}", "task-result", row_text(&rows, i, "id"), "run",
				json_string_or_null(row_text(&rows, i, "run_id")), "due-in-ms", due_or_null(&rows, i),
				"reported", row_bool(&rows, i, "reported")));
	}
	return 0;
}

int task_calls_deadlines(struct store *store, const char *after, int limit, json_t **ret_deadlines, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select r.id, " DUE_IN_MS " as due_in_ms from task_results r where r.delivery = 'acknowledged' "
		    "and r.reported is null and r.id > $1 order by r.id limit $2",
		    P_TEXT(after), P_INT(limit)) < 0)
		return -1;
	*ret_deadlines = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(*ret_deadlines,
			json_pack("{ss so}", "task-result", row_text(&rows, i, "id"), "due-in-ms",
				due_or_null(&rows, i)));
	return 0;
}
