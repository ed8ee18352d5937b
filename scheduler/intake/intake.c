/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/intake/intake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "common/metrics.h"
#include "scheduler/intake/dead_letters.h"
#include "scheduler/metrics.h"

enum { WAIT_MS = 200, RETRY_MS = 500 };

struct intake {
	struct intakes *intakes;
	const struct intake_topic *spec;
	struct kafka_message messages[INTAKE_BATCH]; /* the batch's messages of this topic */
	size_t count;
	struct rate letters, unproven, dropped_lines, unproven_lines, late_lines;
};

struct intakes {
	struct intake each[KAFKA_MAX_TOPICS];
	size_t count;
	struct store store;
	struct kafka_consumer *consumer;
	pthread_t thread;
	atomic_bool stopping;
};

static const struct rate_limit dead_letter_limit = {INTAKE_LETTERS_A_MINUTE, 60000};
static const struct rate_limit unproven_limit = {INTAKE_UNPROVEN_A_MINUTE, 60000};
static const struct rate_limit line_limit = {1, 1000};
static const struct rate_limit late_line_limit = {10, 1000};

static const char *topic_name(const struct intake *intake)
{
	return topics[intake->spec->topic].name;
}

struct store *intake_store(struct intake *intake)
{
	return &intake->intakes->store;
}

int intake_try(
	struct intake *intake, int (*fn)(struct store *store, void *data, struct err *err), void *data, struct err *err)
{
	const struct timespec moment = {.tv_nsec = RETRY_MS * 1000000L};

	while (fn(intake_store(intake), data, err) < 0) {
		if (err->kind != ERR_UNAVAILABLE || atomic_load(&intake->intakes->stopping))
			return -1;
		log_warn("messages wait for PostgreSQL", "topic", topic_name(intake), "error", err->message, NULL);
		nanosleep(&moment, NULL);
	}
	return 0;
}

struct letter {
	const struct kafka_message *message;
	const char *why;
};

static int dead_letter_put(struct store *store, void *data, struct err *err)
{
	const struct letter *letter = data;

	return dead_letters_put(store, letter->message, letter->why, err);
}

bool intake_late_line_due(struct intake *intake, char ret_count[RATE_COUNT_SIZE])
{
	return rate_line_due(&intake->late_lines, &late_line_limit, clock_mono_ms(), ret_count);
}

static int message_keep(struct intake *intake, const struct kafka_message *message, const char *why)
{
	struct letter letter = {message, why};
	struct err err = ERR_INIT;

	if (intake_try(intake, dead_letter_put, &letter, &err) == 0)
		return 0;
	if (err.kind == ERR_UNAVAILABLE)
		return -1;
	log_error("a dead letter can't be stored", "topic", topic_name(intake), "error", err.message, NULL);
	return 0;
}

/* Counts a message that is not stored. The log has one line per second with the number of such messages. */
static void dead_letter_dropped(struct intake *intake)
{
	char count[RATE_COUNT_SIZE];

	metric_addf(M_LETTERS_DROPPED, 1, "topic=\"%s\"", topic_name(intake));
	if (rate_line_due(&intake->dropped_lines, &line_limit, clock_mono_ms(), count))
		log_warn("messages that can't be read are dropped: there are too many of them to keep as dead letters",
			"topic", topic_name(intake), "count", count, NULL);
}

bool intake_letter_fits(struct intake *intake)
{
	if (rate_take(&intake->letters, &dead_letter_limit, clock_mono_ms()))
		return true;
	dead_letter_dropped(intake);
	return false;
}

int intake_letter(struct intake *intake, const struct kafka_message *message, const char *why)
{
	return intake_letter_fits(intake) ? message_keep(intake, message, why) : 0;
}

int intake_letter_proven(struct intake *intake, const struct kafka_message *message, const char *why)
{
	return message_keep(intake, message, why);
}

static void security_event_note(struct intake *intake, const char *job_id, const char *why)
{
	char count[RATE_COUNT_SIZE];

	metric_addf(M_SECURITY_EVENTS, 1, "event=\"unproven-message\",topic=\"%s\"", topic_name(intake));
	if (rate_line_due(&intake->unproven_lines, &line_limit, clock_mono_ms(), count))
		log_warn("a message does not prove its sender and is refused", "security-event", "unproven-message",
			"topic", topic_name(intake), "job", job_id, "error", why, "count", count, NULL);
}

int intake_refuse_unproven(
	struct intake *intake, const struct kafka_message *message, const char *job_id, const char *why)
{
	security_event_note(intake, job_id, why);
	if (rate_take(&intake->unproven, &unproven_limit, clock_mono_ms()))
		return message_keep(intake, message, why);
	return 0;
}

static struct intake *intake_of(struct intakes *intakes, const char *topic)
{
	size_t i = 0;

	while (i + 1 < intakes->count && strcmp(topic_name(&intakes->each[i]), topic) != 0)
		i++;
	return &intakes->each[i];
}

/* Reads up to one batch: waits for the first message, then takes those that are available. */
static size_t batch_read(struct intakes *intakes)
{
	struct kafka_message message;
	size_t count = 0;

	while (count < INTAKE_BATCH && kafka_consume(intakes->consumer, count ? 0 : WAIT_MS, &message)) {
		struct intake *intake = intake_of(intakes, message.topic);

		intake->messages[intake->count++] = message;
		count++;
	}
	return count;
}

static void note_stats(const struct intakes *intakes)
{
	static const char client[] = "client=\"intake\"";
	struct kafka_stats stats;

	kafka_consumer_stats(intakes->consumer, &stats);
	metric_set(M_KAFKA_LAG, client, (double)stats.lag);
	metric_set(M_KAFKA_UP, client, stats.up);
}

static void intake_settle(struct intake *intake)
{
	bool settled = !intake->count || intake->spec->settle(intake, intake->messages, intake->count) == 0;

	for (size_t i = 0; i < intake->count; i++) {
		if (settled)
			kafka_message_store(intake->intakes->consumer, &intake->messages[i]);
		kafka_message_done(&intake->messages[i]);
	}
	intake->count = 0;
}

static void *intakes_thread(void *data)
{
	struct intakes *intakes = data;

	while (!atomic_load(&intakes->stopping)) {
		size_t count = batch_read(intakes);

		note_stats(intakes);
		progress_busy("intake");
		for (size_t i = 0; i < intakes->count; i++)
			intake_settle(&intakes->each[i]);
		progress_idle();
		if (count)
			kafka_consumer_commit(intakes->consumer);
	}
	return NULL;
}

int intakes_start(const struct intakes_spec *spec, struct intakes **ret_intakes, struct err *err)
{
	struct intakes *intakes = mem_new(1, sizeof(*intakes));
	struct kafka_settings kafka = *spec->kafka;
	struct kafka_consumer_spec consumer = {.settings = &kafka, .group = topics[TOPIC_RESULTS].group};

	kafka.label = "intake";
	intakes->store = spec->store;
	intakes->count = spec->count;
	for (size_t i = 0; i < spec->count; i++) {
		intakes->each[i] = (struct intake){.intakes = intakes, .spec = &spec->topics[i]};
		consumer.topics[i] = topic_name(&intakes->each[i]);
	}
	if (kafka_consumer_open(&consumer, &intakes->consumer, err) < 0) {
		free(intakes);
		return -1;
	}
	intakes->store.db = db_open(spec->database_url);
	if (pthread_create(&intakes->thread, NULL, intakes_thread, intakes) != 0) {
		err_errno(err, "a thread");
		kafka_consumer_close(intakes->consumer);
		db_close(intakes->store.db);
		free(intakes);
		return -1;
	}
	*ret_intakes = intakes;
	return 0;
}

void intakes_stop(struct intakes *intakes)
{
	if (!intakes)
		return;
	atomic_store(&intakes->stopping, true);
	pthread_join(intakes->thread, NULL);
	kafka_consumer_close(intakes->consumer);
	db_close(intakes->store.db);
	free(intakes);
}
