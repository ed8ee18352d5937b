/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/outbox/publisher.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "common/metrics.h"
#include "proto/topics.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/publisher.sql.h"

/*
 *  1. A row is deleted only after the broker acknowledged it, so no committed message is lost.
 *  2. A row is in the list `rows` from its offer (or the poll that found it) until it was deleted or failed. A poll
 *     excludes the rows in the list, so this process sends a row twice only after a failure.
 *  3. The list is bounded. A later poll finds the rows that do not fit.
 *  4. No transaction is open during a send.
 */

enum {
	ROUND_MS = 200, /* while rows are in flight */
	POLL_MS = 1000, /* for rows of a dead replica */
	LEFT_BEHIND_MS = 1000,
	MAX_ROWS = 20000,
	BATCH = 500,
	DELETE_AT = 100, /* rows, or after DELETE_MS */
	DELETE_MS = 100,
	CLOSE_MS = 5000,
	ENSURE_MS = 1000,
	ENSURE_AGAIN_MS = 5000, /* after a failure */
	ENSURED_MS = 60000,     /* after this time, a deleted topic is created again */
	MAX_TOPICS = 1024
};

enum row_state { ROW_OFFERED, ROW_SENT, ROW_ACKNOWLEDGED, ROW_FAILED };

struct row {
	long long id;
	int64_t since_ms;
	enum row_state state;
	char *topic, *key, *payload;
	struct row *next;
};

struct ensured {
	char name[TOPIC_NAME_SIZE];
	int64_t next_try_ms;
	bool under_way; /* a thread's request to the broker */
};

struct publisher {
	struct db *db;
	struct topic_settings settings;
	struct kafka_producer *producer;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
	pthread_mutex_t lock; /* guards the two below */
	struct row *offered;  /* newest first */
	size_t count;         /* rows in both lists */
	struct row *rows;     /* the thread's own */
	int64_t next_poll_ms, next_delete_ms;
	pthread_mutex_t topics_lock; /* guards the members below */
	pthread_cond_t topic_ensured;
	int64_t ask_again_ms; /* the next request to a broker that did not answer */
	struct ensured ensured[MAX_TOPICS];
	size_t ensured_count; /* topics ever added; the oldest entry is overwritten */
};

static void row_free(struct row *row)
{
	free(row->topic);
	free(row->key);
	free(row->payload);
	free(row);
}

static struct row *row_new(long long id, const char *topic, const char *key, const char *payload)
{
	struct row *row = mem_new(1, sizeof(*row));

	row->id = id;
	row->since_ms = clock_mono_ms();
	row->topic = mem_text(topic);
	row->key = mem_text(key);
	row->payload = mem_text(payload);
	return row;
}

/* ---- from other threads ---- */

static atomic_llong offered_count;

void publisher_offer(struct publisher *publisher, long long id, const char *topic, const char *key, const char *payload)
{
	struct row *row = row_new(id, topic, key, payload);

	pthread_mutex_lock(&publisher->lock);
	if (publisher->count < MAX_ROWS) {
		row->next = publisher->offered;
		publisher->offered = row;
		publisher->count++;
		row = NULL;
	}
	pthread_mutex_unlock(&publisher->lock);
	if (row)
		row_free(row);
	atomic_fetch_add(&offered_count, 1);
}

long long publisher_offered(void)
{
	return atomic_load(&offered_count);
}

void publisher_wake(struct publisher *publisher)
{
	eventfd_write(publisher->wake, 1);
}

/* ---- the thread ---- */

/* Moves the offered rows to the thread's list, oldest first. */
static void rows_take(struct publisher *publisher)
{
	struct row *offered, *oldest_first = NULL;

	pthread_mutex_lock(&publisher->lock);
	offered = publisher->offered;
	publisher->offered = NULL;
	pthread_mutex_unlock(&publisher->lock);
	while (offered) {
		struct row *row = offered;

		offered = row->next;
		row->next = oldest_first;
		oldest_first = row;
	}
	for (struct row **end = &publisher->rows;; end = &(*end)->next)
		if (!*end) {
			*end = oldest_first;
			break;
		}
}

/* Returns the topic's entry, and adds one if there is none. With more than MAX_TOPICS topics, the oldest entry is
 * overwritten, and that topic is checked again. */
static struct ensured *ensured_find(struct publisher *publisher, const char *name)
{
	size_t known = publisher->ensured_count < MAX_TOPICS ? publisher->ensured_count : MAX_TOPICS;
	struct ensured *ensured;

	for (size_t i = 0; i < known; i++)
		if (text_equal(publisher->ensured[i].name, name))
			return &publisher->ensured[i];
	ensured = &publisher->ensured[publisher->ensured_count++ % MAX_TOPICS];
	*ensured = (struct ensured){.next_try_ms = 0};
	text_copy(ensured->name, sizeof(ensured->name), name);
	return ensured;
}

static bool topic_ensure(struct publisher *publisher, const char *name, const struct topic_row *row)
{
	const struct topic_settings *set = &publisher->settings;
	bool of_pool = row == &topics[TOPIC_JOBS];
	const struct kafka_topic topic = {.name = name,
		.partitions = of_pool ? set->job_partitions : row->partitions,
		.replication = set->replication,
		.retention_ms =
			(int64_t)(set->retention_hours ? set->retention_hours : row->retention_hours) * 3600000};
	struct err err = ERR_INIT;

	return kafka_topic_ensure(publisher->producer, &topic, ENSURE_MS, &err) > 0;
}

/* Threads that answer requests call this. So the lock is not held during the request to the broker, and topics of
 * several pools are created at the same time. After a request without an answer, no topic is requested for a moment. */
void publisher_topic(struct publisher *publisher, const char *name, const struct topic_row *row)
{
	struct ensured *ensured;
	int64_t began, ended;
	bool there;

	pthread_mutex_lock(&publisher->topics_lock);
	while ((ensured = ensured_find(publisher, name))->under_way)
		pthread_cond_wait(&publisher->topic_ensured, &publisher->topics_lock);
	began = clock_mono_ms();
	if (began >= ensured->next_try_ms && began >= publisher->ask_again_ms) {
		ensured->under_way = true;
		pthread_mutex_unlock(&publisher->topics_lock);
		there = topic_ensure(publisher, name, row);
		pthread_mutex_lock(&publisher->topics_lock);
		ended = clock_mono_ms();
		ensured = ensured_find(publisher, name); /* its entry may have been overwritten */
		ensured->under_way = false;
		ensured->next_try_ms = ended + (there ? ENSURED_MS : ENSURE_AGAIN_MS);
		if (!there && ended - began >= ENSURE_MS)
			publisher->ask_again_ms = ended + ENSURE_AGAIN_MS;
		pthread_cond_broadcast(&publisher->topic_ensured);
	}
	pthread_mutex_unlock(&publisher->topics_lock);
}

static void shared_topics_ensure(struct publisher *publisher)
{
	for (int i = 0; i < TOPIC_COUNT; i++)
		if (i != TOPIC_JOBS)
			publisher_topic(publisher, topics[i].name, &topics[i]);
}

void publisher_topic_gone(struct publisher *publisher, const char *name)
{
	pthread_mutex_lock(&publisher->topics_lock);
	ensured_find(publisher, name)->next_try_ms = 0;
	pthread_mutex_unlock(&publisher->topics_lock);
	kafka_topic_delete(publisher->producer, name, ENSURE_MS);
}

/* Logged for the timeline of a run (tests/bench/lone). Payloads are ids. */
#define NOTE_FIELDS(row) "topic", (row)->topic, "payload", (row)->payload

/* A topic may have been deleted since it was ensured. */
static void row_failed(struct publisher *publisher, struct row *row)
{
	struct ensured *ensured;

	row->state = ROW_FAILED;
	log_debug("message failed", NOTE_FIELDS(row), NULL);
	if (!text_starts(row->topic, topics[TOPIC_JOBS].name))
		return;
	pthread_mutex_lock(&publisher->topics_lock);
	ensured = ensured_find(publisher, row->topic);
	if (ensured->next_try_ms > clock_mono_ms() + ENSURE_AGAIN_MS)
		ensured->next_try_ms = clock_mono_ms() + ENSURE_AGAIN_MS;
	pthread_mutex_unlock(&publisher->topics_lock);
}

/* model: publish */
static void row_send(struct publisher *publisher, struct row *row)
{
	const struct kafka_record record = {
		.topic = row->topic, .key = row->key, .payload = row->payload, .tag = (uint64_t)(uintptr_t)row};
	struct err err = ERR_INIT;

	if (text_starts(row->topic, topics[TOPIC_JOBS].name))
		publisher_topic(publisher, row->topic, &topics[TOPIC_JOBS]);
	if (kafka_produce(publisher->producer, &record, &err) == 0)
		row->state = ROW_SENT;
	else
		row_failed(publisher, row);
	log_debug("message sent", NOTE_FIELDS(row), NULL);
}

static void on_delivered(void *data, uint64_t tag, const char *error)
{
	struct row *row = (struct row *)(uintptr_t)tag; /* NOLINT: the tag is the row, which outlives the message */

	if (error) {
		row_failed(data, row);
		return;
	}
	row->state = ROW_ACKNOWLEDGED;
	log_debug("message delivered", NOTE_FIELDS(row), NULL);
	metric_observe(M_OUTBOX_SECONDS, "", (double)(clock_mono_ms() - row->since_ms) / 1000);
}

static void rows_send(struct publisher *publisher)
{
	for (struct row *row = publisher->rows; row; row = row->next)
		if (row->state == ROW_OFFERED)
			row_send(publisher, row);
}

/* Removes rows that were deleted, and rows that failed, which the poll finds again. */
static void rows_forget(struct publisher *publisher, bool deleted)
{
	size_t gone = 0;

	for (struct row **at = &publisher->rows; *at;) {
		struct row *row = *at;

		if (row->state != ROW_FAILED && !(deleted && row->state == ROW_ACKNOWLEDGED)) {
			at = &row->next;
			continue;
		}
		if (row->state == ROW_FAILED)
			metric_add(M_OUTBOX_FAILED, "", 1);
		*at = row->next;
		row_free(row);
		gone++;
	}
	pthread_mutex_lock(&publisher->lock);
	publisher->count -= gone;
	pthread_mutex_unlock(&publisher->lock);
}

/* Deletes many rows at a time. A row whose deletion is delayed is at worst sent twice after a crash. */
/* model: delete */
static void rows_delete(struct publisher *publisher)
{
	struct err err = ERR_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	bool deleted = false;

	for (const struct row *row = publisher->rows; row; row = row->next)
		if (row->state == ROW_ACKNOWLEDGED)
			db_array_add_int(&ids, row->id);
	if (ids.count >= DELETE_AT || clock_mono_ms() >= publisher->next_delete_ms ||
		atomic_load(&publisher->stopping)) {
		publisher->next_delete_ms = clock_mono_ms() + DELETE_MS;
		deleted = !ids.count || db_query(publisher->db, NULL, &err, outbox_delete, .ids = &ids) == 0;
	}
	rows_forget(publisher, deleted);
}

/* Offers rows that a dead replica left or that this process could not send. */
static void rows_poll(struct publisher *publisher)
{
	struct err err = ERR_INIT;
	_cleanup_(rows_release) struct rows found = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array known = DB_ARRAY_INIT;

	if (clock_mono_ms() < publisher->next_poll_ms)
		return;
	publisher->next_poll_ms = clock_mono_ms() + POLL_MS;
	for (const struct row *row = publisher->rows; row; row = row->next)
		db_array_add_int(&known, row->id);
	if (known.count >= MAX_ROWS ||
		db_query(publisher->db, &found, &err, outbox_left_behind, .known = &known,
			.older_s = LEFT_BEHIND_MS / 1000.0, .batch = BATCH) < 0)
		return;
	for (int i = 0; i < found.count; i++) {
		const struct outbox_left_behind_row *row = row_of(outbox_left_behind, &found, i);

		publisher_offer(publisher, row->id, row->topic, row->key, row->payload);
	}
}

static void publisher_round(struct publisher *publisher)
{
	struct kafka_stats stats;

	progress_busy("publisher");
	rows_poll(publisher);
	rows_take(publisher);
	progress_wait();
	rows_send(publisher);
	kafka_producer_poll(publisher->producer, 0);
	progress_go_on();
	rows_delete(publisher);
	progress_idle();
	kafka_producer_stats(publisher->producer, &stats);
	metric_set(M_KAFKA_UP, "client=\"publisher\"", stats.up);
	if (stats.up)
		shared_topics_ensure(publisher);
}

static void *publisher_thread(void *data)
{
	struct publisher *publisher = data;
	struct pollfd wake = {.fd = publisher->wake, .events = POLLIN};
	eventfd_t ignored;

	while (!atomic_load(&publisher->stopping)) {
		publisher_round(publisher);
		poll(&wake, 1, publisher->rows ? ROUND_MS : POLL_MS);
		eventfd_read(publisher->wake, &ignored);
	}
	for (int64_t give_up = clock_mono_ms() + CLOSE_MS; publisher->rows && clock_mono_ms() < give_up;) {
		publisher_round(publisher);
		poll(&wake, 1, 10);
		eventfd_read(publisher->wake, &ignored);
	}
	return NULL;
}

int publisher_start(const struct publisher_spec *spec, struct publisher **ret_publisher, struct err *err)
{
	struct publisher *publisher = mem_new(1, sizeof(*publisher));
	struct kafka_settings kafka = *spec->kafka;

	kafka.label = "publisher";
	pthread_mutex_init(&publisher->lock, NULL);
	pthread_mutex_init(&publisher->topics_lock, NULL);
	pthread_cond_init(&publisher->topic_ensured, NULL);
	if (kafka_producer_open(&kafka, on_delivered, publisher, &publisher->producer, err) < 0) {
		free(publisher);
		return -1;
	}
	publisher->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	kafka_producer_wake(publisher->producer, publisher->wake);
	publisher->settings = spec->topics;
	publisher->db = db_open_relaxed(spec->database_url);
	shared_topics_ensure(publisher);
	pthread_create(&publisher->thread, NULL, publisher_thread, publisher);
	*ret_publisher = publisher;
	return 0;
}

void publisher_stop(struct publisher *publisher)
{
	if (!publisher)
		return;
	atomic_store(&publisher->stopping, true);
	publisher_wake(publisher);
	pthread_join(publisher->thread, NULL);
	/* The last delivery reports refer to rows, so the rows are freed after the producer is closed. */
	kafka_producer_close(publisher->producer);
	rows_take(publisher);
	while (publisher->rows) {
		struct row *row = publisher->rows;

		publisher->rows = row->next;
		row_free(row);
	}
	db_close(publisher->db);
	closep(&publisher->wake);
	pthread_mutex_destroy(&publisher->lock);
	pthread_mutex_destroy(&publisher->topics_lock);
	pthread_cond_destroy(&publisher->topic_ensured);
	free(publisher);
}
