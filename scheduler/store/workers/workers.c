/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/workers.h"

#include <string.h>

#include "proto/messages.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/lease_grace.h"
#include "scheduler/store/workers/quotas.h"
#include "scheduler/store/workers/workers.sql.h"

enum { MAX_KINDS = 200 /* limit of distinct capabilities */, MAX_STILL_WAITING = 64 };

/* The attempts as JSON, with the digests of their tokens. */
static char *attempts_text(const json_t *jobs)
{
	json_auto_t *attempts = json_array();
	const json_t *job;
	size_t i;

	json_array_foreach((json_t *)jobs, i, job)
	{
		const char *token = text_or_empty(json_string_at(job, "token"));
		char hash[SHA256_HEX_SIZE];

		crypto_sha256_hex(token, strlen(token), hash);
		json_array_append_new(attempts,
			json_pack("{ss sI ss}", "job", text_or_empty(json_string_at(job, "job")), "attempt",
				(json_int_t)json_int_at(job, "attempt", 0), "hash", hash));
	}
	return json_text(attempts);
}

/* Passes the message that the statement has written, if any, to the publisher. */
static void worker_tell(struct store *store, long long number, const char *key, const char *payload)
{
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	if (payload)
		outbox_written(&outbox, number, topics[TOPIC_EVENTS].name, key, payload);
	outbox_hand_over(&outbox, store->db, store->sink);
}

/* A registration that presents attempts acts as a heartbeat (in the model) of a worker that the scheduler had
 * forgotten. A worker with the name of earlier ones has their folder: it reports what is undelivered there. */
/* model: register */
int worker_register(
	struct store *store, const struct worker_arrival *arrival, struct id *ret_id, char **ret_token, struct err *err)
{
	_cleanup_(freep) char *token = crypto_token("worker.");
	_cleanup_(freep) char *attempts = attempts_text(arrival->jobs);
	_cleanup_(freep) char *capabilities = arrival->capabilities ? json_text(arrival->capabilities) : NULL;
	struct id id = id_new("agent");
	_cleanup_(rows_release) struct rows told = ROWS_INIT;
	long long number = outbox_number();
	const struct worker_message_row *message;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(token, strlen(token), hash);
	if (db_query(store->db, &told, err, worker_register, .id = id.text, .pool_id = arrival->pool_id,
		    .name = arrival->name, .version = arrival->version, .slots = arrival->slots,
		    .address = arrival->address, .hash = hash, .token_id = arrival->token_id, .attempts = attempts,
		    .lease_seconds = store->settings->lease_seconds, .capabilities = capabilities,
		    .protocol = arrival->protocol, .number = number, .topic = topics[TOPIC_EVENTS].name) < 0)
		return -1;
	message = row_of(worker_message, &told, 0);
	worker_tell(store, number, message->key, message->payload);
	*ret_id = id;
	*ret_token = token;
	token = NULL;
	return 0;
}

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "worker not found");
}

int worker_find(struct store *store, const char *token, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	if (db_query(store->db, &rows, err, worker_find, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	text_copy(ret_id->text, sizeof(ret_id->text), row_of(worker_find, &rows, 0)->id);
	return 0;
}

int workers_still_waiting(struct db *db, int still_ms, struct rows *ret_rows, struct err *err)
{
	return db_query(db, ret_rows, err, workers_still_waiting, .still_ms = still_ms, .max = MAX_STILL_WAITING);
}

int worker_waits_for(struct store *store, const struct worker_wait *wait, bool *ret_jobs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, worker_waits_for, .pool_id = wait->pool_id, .worker_id = wait->worker_id,
		    .free = wait->free) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	*ret_jobs = row_of(worker_waits_for, &rows, 0)->jobs;
	return 0;
}

static json_t *beat_jobs(const struct rows *rows)
{
	json_t *jobs = json_array();

	for (int i = 0; i < rows->count; i++) {
		const struct worker_beat_row *row = row_of(worker_beat, rows, i);

		if (row->job)
			json_array_append_new(jobs,
				json_pack("{ss si sb sb ss}", "job", row->job, "attempt", (int)row->attempt, "held",
					row->held, "awaited", row->awaited, "stop", stop_name((enum stop)row->stop)));
	}
	return jobs;
}

/* model: heartbeat */
int worker_beat(struct store *store, const struct worker_beat *beat, json_t **ret_answer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *partitions = json_text(beat->partitions);
	_cleanup_(freep) char *jobs = json_text(beat->jobs);
	_cleanup_(freep) char *capabilities = beat->capabilities ? json_text(beat->capabilities) : NULL;
	_cleanup_(db_array_release) struct db_array announced = DB_ARRAY_INIT;
	long long number = outbox_number();
	const struct worker_beat_row *first;
	char hash[SHA256_HEX_SIZE];

	db_array_add_texts(&announced, beat->announced);
	crypto_sha256_hex(text_or_empty(beat->token), strlen(text_or_empty(beat->token)), hash);
	if (db_query(store->db, &rows, err, worker_beat, .hash = hash, .free = beat->free, .slots = beat->slots,
		    .draining = beat->draining, .partitions = partitions, .jobs = jobs,
		    .lease_seconds = store->settings->lease_seconds, .capabilities = capabilities,
		    .announced = &announced, .undelivered = beat->undelivered, .number = number,
		    .topic = topics[TOPIC_EVENTS].name) < 0)
		return -1;
	first = row_of(worker_beat, &rows, 0);
	if (!first->ordered)
		return not_found(err);
	worker_tell(store, number, first->key, first->payload);
	*ret_answer = json_pack("{ss so so}", "order", first->ordered, "jobs", beat_jobs(&rows), "not-waiting",
		first->not_waiting ? json_shown(first->not_waiting) : json_array());
	return 0;
}

int worker_leave(struct store *store, const struct worker_departure *departure, struct err *err)
{
	_cleanup_(rows_release) struct rows told = ROWS_INIT;
	long long number = outbox_number();
	const struct worker_message_row *message;

	if (db_query(store->db, &told, err, worker_leave, .worker_id = departure->worker_id,
		    .failed = departure->failed, .number = number, .topic = topics[TOPIC_EVENTS].name,
		    .undelivered = departure->undelivered) < 0)
		return -1;
	if (!told.count)
		return 0;
	message = row_of(worker_message, &told, 0);
	worker_tell(store, number, message->key, message->payload);
	return 0;
}

int workers_capabilities(
	struct store *store, const char *pool_id, const char *worker_id, json_t **ret_others, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *others;

	if (db_query(store->db, &rows, err, workers_capabilities, .pool_id = pool_id, .worker_id = worker_id,
		    .lease_seconds = store->settings->lease_seconds,
		    .grace = leases_have_grace(store->settings->lease_seconds), .max_kinds = MAX_KINDS) < 0)
		return -1;
	others = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(others, json_shown(row_of(workers_capabilities, &rows, i)->capabilities));
	*ret_others = others;
	return 0;
}

int workers_stops(struct db *db, struct rows *ret_rows, struct err *err)
{
	return db_query(db, ret_rows, err, workers_stops);
}
