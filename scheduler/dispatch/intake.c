/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/intake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/dispatch/letters.h"
#include "scheduler/metrics.h"

enum { WAIT_MS = 200, RETRY_MS = 500 };

struct intake {
	struct intake_spec spec;
	struct store store;
	struct kafka_consumer *consumer;
	pthread_t thread;
	atomic_bool stopping;
	struct kafka_message messages[INTAKE_BATCH];
	size_t count;
	struct rate letters, unproven, dropped_lines, unproven_lines, late_lines;
};

static const struct rate_limit letter_limit = {INTAKE_LETTERS_A_MINUTE, 60000};
static const struct rate_limit unproven_limit = {INTAKE_UNPROVEN_A_MINUTE, 60000};
static const struct rate_limit line_limit = {1, 1000};
static const struct rate_limit late_line_limit = {10, 1000};

struct store *intake_store(struct intake *intake)
{
	return &intake->store;
}

int intake_try(
	struct intake *intake, int (*fn)(struct store *store, void *data, struct err *err), void *data, struct err *err)
{
	const struct timespec moment = {.tv_nsec = RETRY_MS * 1000000L};

	while (fn(&intake->store, data, err) < 0) {
		if (err->kind != ERR_UNAVAILABLE || atomic_load(&intake->stopping))
			return -1;
		log_warn("messages wait for PostgreSQL", "client", intake->spec.client, "error", err->message, NULL);
		nanosleep(&moment, NULL);
	}
	return 0;
}

struct letter {
	const struct kafka_message *message;
	const char *why;
};

static int letter_put(struct store *store, void *data, struct err *err)
{
	const struct letter *letter = data;

	return letters_put(store, letter->message, letter->why, err);
}

bool intake_late_line_due(struct intake *intake, char ret_count[RATE_COUNT_SIZE])
{
	return rate_line_due(&intake->late_lines, &late_line_limit, clock_mono_ms(), ret_count);
}

static int letter_keep(struct intake *intake, const struct kafka_message *message, const char *why)
{
	struct letter letter = {message, why};
	struct err err = ERR_INIT;

	if (intake_try(intake, letter_put, &letter, &err) == 0)
		return 0;
	if (err.kind == ERR_UNAVAILABLE)
		return -1;
	log_error("a message can't even be put aside", "client", intake->spec.client, "error", err.message, NULL);
	return 0;
}

/* Counts a message that is not kept. The log has one line per second with how many there were. */
static void letter_dropped(struct intake *intake)
{
	char count[RATE_COUNT_SIZE];

	metric_addf(M_LETTERS_DROPPED, 1, "topic=\"%s\"", intake->spec.topic);
	if (rate_line_due(&intake->dropped_lines, &line_limit, clock_mono_ms(), count))
		log_warn("messages that can't be read are dropped: there are too many of them to keep as dead letters",
			"topic", intake->spec.topic, "count", count, NULL);
}

bool intake_letter_fits(struct intake *intake)
{
	if (rate_take(&intake->letters, &letter_limit, clock_mono_ms()))
		return true;
	letter_dropped(intake);
	return false;
}

int intake_letter(struct intake *intake, const struct kafka_message *message, const char *why)
{
	return intake_letter_fits(intake) ? letter_keep(intake, message, why) : 0;
}

int intake_letter_proven(struct intake *intake, const struct kafka_message *message, const char *why)
{
	return letter_keep(intake, message, why);
}

static void security_event_tell(struct intake *intake, const char *job_id, const char *why)
{
	char count[RATE_COUNT_SIZE];

	metric_addf(M_SECURITY_EVENTS, 1, "event=\"unproven-message\",topic=\"%s\"", intake->spec.topic);
	if (rate_line_due(&intake->unproven_lines, &line_limit, clock_mono_ms(), count))
		log_warn("a message does not prove its sender and is refused", "security-event", "unproven-message",
			"topic", intake->spec.topic, "job", job_id, "error", why, "count", count, NULL);
}

int intake_refuse_unproven(
	struct intake *intake, const struct kafka_message *message, const char *job_id, const char *why)
{
	security_event_tell(intake, job_id, why);
	if (rate_take(&intake->unproven, &unproven_limit, clock_mono_ms()))
		return letter_keep(intake, message, why);
	return 0;
}

/* Reads up to a batch: waits for the first, takes what is there after it. */
static void batch_read(struct intake *intake)
{
	intake->count = 0;
	while (intake->count < INTAKE_BATCH) {
		struct kafka_message *message = &intake->messages[intake->count];

		if (!kafka_consume(intake->consumer, intake->count ? 0 : WAIT_MS, message))
			return;
		intake->count++;
	}
}

static void note_stats(const struct intake *intake)
{
	_cleanup_(freep) char *labels = mem_printf("client=\"%s\"", intake->spec.client);
	struct kafka_stats stats;

	kafka_consumer_stats(intake->consumer, &stats);
	metric_set(M_KAFKA_LAG, labels, (double)stats.lag);
	metric_set(M_KAFKA_ERRORS, labels, (double)stats.errors);
	metric_set(M_KAFKA_UP, labels, stats.up);
}

static void batch_done(struct intake *intake, bool settled)
{
	for (size_t i = 0; i < intake->count; i++) {
		if (settled)
			kafka_message_store(intake->consumer, &intake->messages[i]);
		kafka_message_done(&intake->messages[i]);
	}
	if (settled && intake->count)
		kafka_consumer_commit(intake->consumer);
}

static void *intake_thread(void *data)
{
	struct intake *intake = data;

	while (!atomic_load(&intake->stopping)) {
		batch_read(intake);
		note_stats(intake);
		batch_done(intake, !intake->count || intake->spec.settle(intake, intake->messages, intake->count) == 0);
	}
	return NULL;
}

int intake_start(const struct intake_spec *spec, struct intake **ret_intake, struct err *err)
{
	struct intake *intake = mem_new(1, sizeof(*intake));
	struct kafka_consumer_spec consumer = {.settings = spec->kafka, .group = spec->group, .topic = spec->topic};

	intake->spec = *spec;
	intake->store = spec->store;
	if (kafka_consumer_open(&consumer, &intake->consumer, err) < 0) {
		free(intake);
		return -1;
	}
	intake->store.db = db_open(spec->database_url);
	if (pthread_create(&intake->thread, NULL, intake_thread, intake) != 0) {
		err_errno(err, "a thread");
		kafka_consumer_close(intake->consumer);
		db_close(intake->store.db);
		free(intake);
		return -1;
	}
	*ret_intake = intake;
	return 0;
}

void intake_stop(struct intake *intake)
{
	if (!intake)
		return;
	atomic_store(&intake->stopping, true);
	pthread_join(intake->thread, NULL);
	kafka_consumer_close(intake->consumer);
	db_close(intake->store.db);
	free(intake);
}
