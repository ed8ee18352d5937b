/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/forwards/forwards.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/http/answer.h"
#include "common/log.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/forwards/forwards.sql.h"

/* WAIT_MS: until a worker must have claimed a request; SOON_MS: if a thread waits for the answer. MORE_MS: for the way
 * of the answer, in addition to the request's own time. KEEP_MS: until the answer must have been read. */
enum {
	WAIT_MS = 10 * 1000,
	SOON_MS = 3 * 1000,
	MORE_MS = 10 * 1000,
	KEEP_MS = 60 * 1000,
	MAX_WAITING = 1000,
	POLL_MS = 20,
	MAX_POLL_MS = 200,
	REQUEST_MAX = 1 << 20,
	SEALED_MAX = 8 << 20,
};

void forward_wait_key(const char *id, char ret_key[ID_SIZE])
{
	snprintf(ret_key, ID_SIZE, "fwd %s", id);
}

static void wake(const struct store *store, const char *id)
{
	char key[ID_SIZE];

	if (!store->sink)
		return;
	forward_wait_key(id, key);
	claim_waiters_wake_later(store->sink->waiters, store->db, key);
}

/* ---- forms ---- */

static bool texts_only(const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)list, i, item)
	{
		if (!json_is_string(item))
			return false;
	}
	return true;
}

static long long time_of(const json_t *request)
{
	return json_int_at(request, "connect-ms", 0) + json_int_at(request, "response-ms", 0);
}

static bool request_is_whole(const json_t *request)
{
	const json_t *headers = json_object_get(request, "headers"), *body = json_object_get(request, "body");
	long long limit = json_int_at(request, "answer-limit", 0);

	return json_string_at(request, "method") && json_string_at(request, "url") && json_is_array(headers) &&
		json_array_size(headers) <= MAX_HEADERS && texts_only(headers) &&
		(json_is_null(body) || json_is_string(body)) && json_int_at(request, "connect-ms", 0) > 0 &&
		json_int_at(request, "response-ms", 0) > 0 && time_of(request) <= 2LL * FORWARD_TIME_MAX && limit > 0 &&
		limit <= FORWARD_ANSWER_MAX;
}

int forward_check(const struct forward *forward, struct err *err)
{
	if (!id_valid(forward->id, "fwd") || !id_valid(forward->pool_id, "apool") ||
		(forward->receiver && !id_valid(forward->receiver, "fwdr")) || !request_is_whole(forward->request))
		return err_set(err, ERR_INVALID, "a forwarded request has a wrong form");
	return 0;
}

/* {"name": ["value"]} */
static bool headers_are_whole(const json_t *headers)
{
	const json_t *values;
	const char *name;

	if (!headers || json_is_null(headers))
		return true;
	if (!json_is_object(headers) || json_object_size(headers) > MAX_HEADERS)
		return false;
	json_object_foreach((json_t *)headers, name, values)
	{
		if (!json_is_array(values) || !texts_only(values))
			return false;
	}
	return true;
}

static bool answer_is_whole(const json_t *answer)
{
	const json_t *body = json_object_get(answer, "body");
	long long status = json_int_at(answer, "status", -1);

	return json_is_object(answer) && (status == 0 || (status >= 100 && status <= 599)) &&
		headers_are_whole(json_object_get(answer, "headers")) &&
		(!body || json_is_null(body) || json_is_string(body));
}

static json_t *failure_new(const char *id, const char *error)
{
	return json_pack("{ss si sf ss}", "id", id, "status", 0, "seconds", 0.0, "error", error);
}

/* ---- insertion ---- */

static json_t *refusal_new(const struct forward *forward, const struct forward_add_row *row)
{
	_cleanup_(freep) char *error = NULL;
	json_t *refusal;

	if (!row->name)
		error = mem_text("the agent pool of the request does not exist");
	else if (row->served)
		error = mem_printf("too many requests wait for the workers of the agent pool \"%s\"", row->name);
	else
		error = mem_printf("no worker of the agent pool \"%s\" with request forwarding is there", row->name);
	refusal = failure_new(forward->id, error);
	json_object_set_new(refusal, "unserved", json_true());
	return refusal;
}

int forward_add(const struct store *store, const struct forward *forward, json_t **ret_refusal, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_MAX);
	_cleanup_(crypto_secret_freep) char *text = json_text(forward->request);

	*ret_refusal = NULL;
	if (strlen(text) > REQUEST_MAX)
		return err_set(err, ERR_INVALID, "a forwarded request is larger than 1 MiB");
	keyring_seal(store->keyring, forward->id, text_bytes(text), &sealed);
	if (db_query(store->db, &rows, err, forward_add, .id = forward->id, .pool_id = forward->pool_id,
		    .receiver = forward->receiver, .request_sealed = db_blob(sealed.data, sealed.len),
		    .time_ms = (int)time_of(forward->request), .wait_ms = forward->receiver ? WAIT_MS : SOON_MS,
		    .max = MAX_WAITING, .lease_seconds = store->settings->lease_seconds) < 0)
		return -1;
	if (row_of(forward_add, &rows, 0)->added)
		wake(store, forward->pool_id);
	else
		*ret_refusal = refusal_new(forward, row_of(forward_add, &rows, 0));
	return 0;
}

/* ---- answers ---- */

static json_t *sealed_json(const struct store *store, const char *id, struct db_hex sealed, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SEALED_MAX);
	json_t *value = NULL;

	if (seal_open(store, id, sealed, &text, err) < 0 || json_parse(buf_str(&text), text.len, &value, err) < 0)
		return NULL;
	return value;
}

static json_t *unanswered(const struct forwards_read_row *row)
{
	_cleanup_(freep) char *error =
		mem_printf(row->claimed ? "the worker of the agent pool \"%s\" that sent the request has not answered"
					: "no worker of the agent pool \"%s\" took the request in time",
			text_or_empty(row->pool));

	return failure_new(row->id, error);
}

static json_t *answer_of(const struct store *store, const struct forwards_read_row *row)
{
	struct err why = ERR_INIT;
	json_t *answer;

	if (!row->answer_sealed.text)
		return unanswered(row);
	answer = sealed_json(store, row->id, row->answer_sealed, &why);
	if (!answer) {
		log_warn("the answer to a forwarded request can't be read", "id", row->id, "error", why.message, NULL);
		return failure_new(row->id, "the answer can't be read");
	}
	json_object_set_new(answer, "id", json_string(row->id));
	return answer;
}

static int ids_query(const struct store *store, const json_t *ids, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array list = DB_ARRAY_INIT;

	for (size_t i = 0; i < json_array_size(ids); i++)
		db_array_add(&list, json_string_value(json_array_get(ids, i)));
	return db_query(store->db, ret_rows, err, forwards_read, .ids = &list, .max = FORWARDS_READ_MAX,
		.lease_seconds = store->settings->lease_seconds);
}

int forwards_read(const struct store *store, const json_t *ids, json_t **ret_answers, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (ids_query(store, ids, &rows, err) < 0)
		return -1;
	*ret_answers = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(*ret_answers, answer_of(store, row_of(forwards_read, &rows, i)));
	return 0;
}

int forwards_done(const struct store *store, const json_t *ids, struct err *err)
{
	_cleanup_(db_array_release) struct db_array list = DB_ARRAY_INIT;

	for (size_t i = 0; i < json_array_size(ids); i++)
		db_array_add(&list, json_string_value(json_array_get(ids, i)));
	return list.count ? db_query(store->db, NULL, err, forwards_done, .ids = &list) : 0;
}

int forwards_expire(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, forwards_expire);
}

/* ---- a request that a thread waits for ---- */

static void pause_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* Polls, since few threads wait, and none for long. */
static int answer_await(
	const struct store *store, const json_t *ids, int64_t until_ms, json_t **ret_answer, struct err *err)
{
	long ms = POLL_MS;

	while (clock_mono_ms() < until_ms) {
		json_auto_t *answers = NULL;

		if (forwards_read(store, ids, &answers, err) < 0)
			return -1;
		if (json_array_size(answers)) {
			*ret_answer = json_incref(json_array_get(answers, 0));
			return 0;
		}
		pause_ms(ms);
		ms = ms < MAX_POLL_MS ? ms * 2 : MAX_POLL_MS;
	}
	*ret_answer = failure_new(json_string_value(json_array_get(ids, 0)), "the worker has not answered in time");
	return 0;
}

int forward_send(const struct store *store, const struct forward *forward, json_t **ret_answer, struct err *err)
{
	json_auto_t *ids = json_pack("[s]", forward->id);
	struct err ignored = ERR_INIT;
	int result;

	if (forward_check(forward, err) < 0 || forward_add(store, forward, ret_answer, err) < 0)
		return -1;
	if (*ret_answer)
		return 0;
	result = answer_await(
		store, ids, clock_mono_ms() + SOON_MS + time_of(forward->request) + MORE_MS, ret_answer, err);
	forwards_done(store, ids, &ignored);
	return result;
}

/* ---- of workers ---- */

static void claimed_add(const struct store *store, const struct forwards_claim_row *row, json_t *requests)
{
	struct err why = ERR_INIT;
	json_t *request = sealed_json(store, row->id, row->request_sealed, &why);

	if (request)
		json_array_append_new(requests, json_pack("{ss so}", "id", row->id, "request", request));
	else
		log_warn("a forwarded request can't be read", "id", row->id, "error", why.message, NULL);
}

int forwards_claim(struct store *store, const struct forward_claim *claim, json_t **ret_requests, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, forwards_claim, .pool_id = claim->pool_id, .worker_id = claim->worker_id,
		    .max = claim->max, .more_ms = MORE_MS) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "worker not found");
	*ret_requests = json_array();
	for (int i = 0; i < rows.count; i++)
		if (row_of(forwards_claim, &rows, i)->id)
			claimed_add(store, row_of(forwards_claim, &rows, i), *ret_requests);
	return 0;
}

/* The known members of a worker's answer. */
static json_t *answer_copy(const json_t *answer)
{
	static const char *const members[] = {
		"status", "seconds", "headers", "body", "internal", "forbidden", "too-large", "retry-after"};
	const char *error = json_string_at(answer, "error");
	json_t *copy = json_object();
	_cleanup_(freep) char *shown = error ? answer_clean(error, strlen(error), NULL) : NULL;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_object_set(copy, members[i], json_object_get(answer, members[i]));
	json_object_set_new(copy, "error", json_string_or_null(shown));
	return copy;
}

int forward_end(
	struct store *store, const char *id, const struct forward_claim *claim, const json_t *answer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_MAX);
	json_auto_t *copy = NULL;
	_cleanup_(crypto_secret_freep) char *text = NULL;

	if (!answer_is_whole(answer))
		return err_set(err, ERR_INVALID, "the answer has a wrong form");
	copy = answer_copy(answer);
	text = json_text(copy);
	seal_text(store, id, text, &sealed);
	if (db_query(store->db, &rows, err, forward_end, .id = id, .pool_id = claim->pool_id,
		    .worker_id = claim->worker_id, .answer_sealed = db_blob(sealed.data, sealed.len),
		    .keep_ms = KEEP_MS) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the request has ended, or is another worker's");
	if (row_of(forward_end, &rows, 0)->receiver)
		wake(store, row_of(forward_end, &rows, 0)->receiver);
	return 0;
}
