/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/results.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/metrics.h"
#include "proto/topics.h"
#include "scheduler/dispatch/letters.h"
#include "scheduler/metrics.h"

enum { BATCH = 128, WAIT_MS = 200, RETRY_MS = 500 };

struct results {
	struct store store;
	struct kafka_consumer *consumer;
	pthread_t thread;
	atomic_bool stopping;
	struct kafka_message messages[BATCH];
	struct job_result decoded[BATCH];
	struct happening items[BATCH];
	size_t message_count, count;
};

struct happening result_happening(const struct job_result *result)
{
	static const enum run_event_kind events[] = {
		[OUTCOME_PASSED] = EV_PASSED,
		[OUTCOME_FAILED] = EV_FAILED,
		[OUTCOME_ERRORED] = EV_ERRORED,
		[OUTCOME_CANCELED] = EV_STOPPED,
	};

	return (struct happening){
		.run = result->run,
		.event = {.kind = events[result->outcome], .has_changes = result->has_changes},
		.job = result->job,
		.attempt = result->attempt,
		.reason = result->error,
		.result = result,
	};
}

static void pause_a_moment(void)
{
	const struct timespec moment = {.tv_nsec = RETRY_MS * 1000000L};

	nanosleep(&moment, NULL);
}

/* Without PostgreSQL nothing can be decided: tried again until it is back, or the process ends and the offset stays. */
static int try_until_done(struct results *results, int (*fn)(struct results *, struct err *))
{
	struct err err = ERR_INIT;

	while (fn(results, &err) < 0) {
		if (err.kind != ERR_UNAVAILABLE)
			return -1;
		log_warn("results wait for PostgreSQL", "error", err.message, NULL);
		if (atomic_load(&results->stopping))
			return -1;
		pause_a_moment();
	}
	return 0;
}

static int batch_happen(struct results *results, struct err *err)
{
	return runs_happen(&results->store, results->items, results->count, err);
}

/* Reads up to a batch: waits for the first, takes what is there after it. */
static void batch_read(struct results *results)
{
	results->message_count = 0;
	while (results->message_count < BATCH) {
		struct kafka_message *message = &results->messages[results->message_count];

		if (!kafka_consume(results->consumer, results->message_count ? 0 : WAIT_MS, message))
			return;
		results->message_count++;
	}
}

static int letter_put(struct results *results, const struct kafka_message *message, const char *why)
{
	struct err err = ERR_INIT;

	while (letters_put(&results->store, message, why, &err) < 0) {
		log_error("a dead letter waits for PostgreSQL", "error", err.message, NULL);
		if (atomic_load(&results->stopping))
			return -1;
		pause_a_moment();
	}
	return 0;
}

static int batch_decode(struct results *results)
{
	struct err err = ERR_INIT;

	results->count = 0;
	for (size_t i = 0; i < results->message_count; i++) {
		const struct kafka_message *message = &results->messages[i];
		struct job_result *result = &results->decoded[results->count];

		if (job_result_decode(message->payload, message->len, result, &err) == 0) {
			results->items[results->count++] = result_happening(result);
			continue;
		}
		metric_add(M_RESULTS, "outcome=\"malformed\"", 1);
		if (letter_put(results, message, err.message) < 0)
			return -1;
	}
	return 0;
}

static void note_outcomes(const struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct happening *item = &results->items[i];

		metric_add(M_RESULTS, item->outcome == HAPPENED ? "outcome=\"accepted\"" : "outcome=\"late\"", 1);
		if (item->outcome != HAPPENED)
			log_info("a result came too late", "run", item->run.text, "job", item->job.text, NULL);
	}
	metric_add(M_RESULT_BATCH, "", 1);
}

/* One that breaks its batch is found by taking them one by one, and put aside. */
static int batch_one_by_one(struct results *results)
{
	struct err err = ERR_INIT;
	size_t count = results->count;

	log_warn("a batch of results is taken one by one", NULL);
	for (size_t i = 0; i < count; i++) {
		results->items[0] = result_happening(&results->decoded[i]);
		results->count = 1;
		if (try_until_done(results, batch_happen) == 0) {
			note_outcomes(results);
			continue;
		}
		if (atomic_load(&results->stopping))
			return -1;
		runs_happen(&results->store, results->items, 1, &err);
		_cleanup_(freep) char *payload = job_result_encode(&results->decoded[i]);
		struct kafka_message message = {.topic = topics[TOPIC_RESULTS].name,
			.partition = -1,
			.offset = -1,
			.payload = payload,
			.len = strlen(payload)};

		if (letter_put(results, &message, err.message) < 0)
			return -1;
	}
	results->count = 0;
	return 0;
}

static int batch_settle(struct results *results)
{
	if (batch_decode(results) < 0)
		return -1;
	if (!results->count)
		return 0;
	if (try_until_done(results, batch_happen) == 0) {
		note_outcomes(results);
		return 0;
	}
	return atomic_load(&results->stopping) ? -1 : batch_one_by_one(results);
}

static void note_stats(const struct results *results)
{
	struct kafka_stats stats;

	kafka_consumer_stats(results->consumer, &stats);
	metric_set(M_KAFKA_LAG, "client=\"results\"", (double)stats.lag);
	metric_set(M_KAFKA_ERRORS, "client=\"results\"", (double)stats.errors);
	metric_set(M_KAFKA_UP, "client=\"results\"", stats.up);
}

static void *results_thread(void *data)
{
	struct results *results = data;

	while (!atomic_load(&results->stopping)) {
		int settled;

		batch_read(results);
		note_stats(results);
		settled = results->message_count ? batch_settle(results) : 0;
		for (size_t i = 0; i < results->message_count; i++) {
			if (settled == 0)
				kafka_message_store(results->consumer, &results->messages[i]);
			kafka_message_done(&results->messages[i]);
		}
		if (settled == 0 && results->message_count)
			kafka_consumer_commit(results->consumer);
	}
	return NULL;
}

int results_start(const struct results_spec *spec, struct results **ret_results, struct err *err)
{
	struct results *results = mem_new(1, sizeof(*results));
	struct kafka_consumer_spec consumer = {
		.settings = spec->kafka, .group = "runyard-scheduler", .topic = topics[TOPIC_RESULTS].name};

	results->store = spec->store;
	if (kafka_consumer_open(&consumer, &results->consumer, err) < 0) {
		free(results);
		return -1;
	}
	results->store.db = db_open(spec->database_url);
	pthread_create(&results->thread, NULL, results_thread, results);
	*ret_results = results;
	return 0;
}

void results_stop(struct results *results)
{
	if (!results)
		return;
	atomic_store(&results->stopping, true);
	pthread_join(results->thread, NULL);
	kafka_consumer_close(results->consumer);
	db_close(results->store.db);
	free(results);
}
