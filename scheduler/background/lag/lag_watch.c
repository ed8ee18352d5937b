/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/lag/lag_watch.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json/json.h"
#include "common/kafka/kafka_failures.h"
#include "common/log.h"
#include "proto/topics.h"
#include "scheduler/background/lag/lag_process.h"
#include "scheduler/background/lag/topic_lags.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/publisher.h"

enum {
	TICK_MS = 1000,
	LOOK_MS = 10 * 1000,
	READ_MS = 60 * 1000, /* after that time without a read of /metrics, the next two count */
	UNREAD_MS = 60 * 1000,
	STILL_MS = 600 * 1000, /* while is_still() */
	SHARE = 10             /* the inverse of a process's share of the time */
};

/* Since when the group has committed nothing new. */
struct progress {
	char topic[TOPIC_NAME_SIZE];
	long long committed;
	int64_t since_ms;
};

struct lag_watch {
	char *const *command;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
	struct progress *progress; /* of the topics of the last look, in its order */
	size_t progress_count;
	int64_t looked_ms, took_ms;
};

/* The sums of a line of topic_lags.h. */
struct topic_lag {
	const char *topic, *group, *pool;
	long long lag, committed;
};

/* Of the last look of this process, for requests. */
static atomic_llong total_lag = -1, total_looked_ms;
static atomic_llong looked_offered = -1; /* publisher_offered; -1: it failed */

/* ---- metrics ---- */

static void partitions_show(const struct kafka_group_topic *item, struct topic_lag *topic)
{
	for (size_t p = 0; p < item->partitions; p++) {
		int64_t committed = item->positions[p].committed, lag = kafka_position_lag(&item->positions[p]);
		_cleanup_(freep) char *labels =
			mem_printf("topic=\"%s\",partition=\"%zu\",group=\"%s\"", topic->topic, p, topic->group);

		metric_set(M_GROUP_LAG, labels, (double)lag);
		if (committed >= 0)
			metric_set(M_GROUP_COMMITTED, labels, (double)committed);
		topic->lag += lag;
		topic->committed += committed > 0 ? committed : 0;
	}
}

/* Writes the topic's entry of the new list. Both lists have the same order, and *from is the place in the old one. */
static double stalled_seconds(
	const struct lag_watch *watch, const struct topic_lag *topic, struct progress *entry, size_t *from)
{
	int64_t now = clock_mono_ms();
	size_t i = *from;

	while (i < watch->progress_count && !text_equal(watch->progress[i].topic, topic->topic))
		i++;
	text_copy(entry->topic, sizeof(entry->topic), topic->topic);
	entry->committed = topic->committed;
	entry->since_ms = now;
	if (i == watch->progress_count)
		return 0;
	*from = i + 1;
	if (topic->lag > 0 && watch->progress[i].committed == topic->committed)
		entry->since_ms = watch->progress[i].since_ms;
	return (double)(now - entry->since_ms) / 1000;
}

static void topic_show(const struct topic_lag *topic, const json_t *members, double stalled)
{
	_cleanup_(freep) char *of_pool = topic->pool ? mem_printf(",pool=\"%s\"", topic->pool) : NULL;
	_cleanup_(freep) char *labels =
		mem_printf("topic=\"%s\",group=\"%s\"%s", topic->topic, topic->group, text_or_empty(of_pool));
	_cleanup_(freep) char *group = mem_printf("group=\"%s\"", topic->group);

	metric_set(M_TOPIC_LAG, labels, (double)topic->lag);
	metric_set(M_GROUP_STALLED, labels, stalled);
	if (members)
		metric_set(M_GROUP_MEMBERS, group, (double)json_integer_value(members));
}

static void failure_show(const json_t *line, const struct topic_lag *topic)
{
	const char *failure = json_string_at(line, "failure"), *refused = json_string_at(line, "refused");

	if (failure && !json_bool_at(line, "expected", false))
		metric_addf(M_LAG_FAILURES, 1, "reason=\"%s\"", failure);
	if (refused)
		kafka_refused("Describe", refused, text_equal(refused, "group") ? topic->group : topic->topic);
}

/* Returns the topic's lag. */
static long long line_show(struct lag_watch *watch, const json_t *line, struct progress *entry, size_t *from)
{
	struct kafka_group_topic item;
	struct topic_lag topic = {.topic = text_or_empty(json_string_at(line, "topic")),
		.group = text_or_empty(json_string_at(line, "group")),
		.pool = json_string_at(line, "pool")};

	if (!*topic.group)
		return 0;
	topic_lags_positions(line, &item);
	if (item.partitions) {
		partitions_show(&item, &topic);
		topic_show(&topic, json_at(line, "members"), stalled_seconds(watch, &topic, entry, from));
	} else {
		failure_show(line, &topic);
	}
	kafka_group_topic_release(&item);
	return topic.lag;
}

static void output_show(struct lag_watch *watch, char *output)
{
	struct progress *progress = NULL;
	size_t count = 0, from = 0;
	long long total = 0;
	char *rest = NULL;

	for (char *text = strtok_r(output, "\n", &rest); text; text = strtok_r(NULL, "\n", &rest)) {
		json_auto_t *line = NULL;
		struct err err = ERR_INIT;

		if (json_parse(text, strlen(text), &line, &err) < 0)
			continue;
		progress = mem_resize(progress, count + 1, sizeof(*progress));
		progress[count] = (struct progress){.since_ms = 0};
		total += line_show(watch, line, &progress[count], &from);
		count += *progress[count].topic != '\0';
	}
	free(watch->progress);
	watch->progress = progress;
	watch->progress_count = count;
	if (!count)
		return;
	atomic_store(&total_lag, total);
	atomic_store(&total_looked_ms, clock_mono_ms());
}

/* There was no lag, and this process has sent no message since. */
static bool is_still(void)
{
	return atomic_load(&total_lag) == 0 && atomic_load(&looked_offered) == publisher_offered();
}

long long lag_watch_total(void)
{
	int64_t age = clock_mono_ms() - atomic_load(&total_looked_ms);

	return age <= 2 * (is_still() ? STILL_MS : UNREAD_MS) ? atomic_load(&total_lag) : -1;
}

/* ---- the thread ---- */

static void look(struct lag_watch *watch)
{
	int64_t began = clock_mono_ms();
	_cleanup_(buf_release) struct buf output = BUF_INIT(LAG_OUTPUT_LIMIT);
	long long offered = publisher_offered();
	struct err err = ERR_INIT;
	bool succeeded = lag_process_run(watch->command, watch->wake, &output, &err) == 0;

	if (atomic_load(&watch->stopping))
		return;
	output_show(watch, (char *)buf_str(&output));
	if (!succeeded)
		metric_add(M_LAG_FAILURES, "reason=\"process\"", 1);
	watch->looked_ms = began;
	atomic_store(&looked_offered, succeeded && watch->progress_count ? offered : -1);
	/* A broker that does not answer does not delay the next look. */
	watch->took_ms = watch->progress_count ? clock_mono_ms() - began : 0;
}

static bool look_is_due(const struct lag_watch *watch)
{
	int64_t now = clock_mono_ms(), share = watch->took_ms * SHARE;
	int64_t pause = now - metrics_read_ms() < READ_MS ? LOOK_MS : is_still() ? STILL_MS : UNREAD_MS;

	return !watch->looked_ms || now - watch->looked_ms >= (pause > share ? pause : share);
}

static void *lag_watch_thread(void *data)
{
	struct lag_watch *watch = data;
	struct pollfd wake = {.fd = watch->wake, .events = POLLIN};

	while (!atomic_load(&watch->stopping))
		if (poll(&wake, 1, TICK_MS) <= 0 && look_is_due(watch))
			look(watch);
	return NULL;
}

int lag_watch_start(char *const *command, struct lag_watch **ret_watch, struct err *err)
{
	struct lag_watch *watch = mem_new(1, sizeof(*watch));

	watch->command = command;
	watch->wake = eventfd(0, EFD_CLOEXEC);
	if (watch->wake < 0 || pthread_create(&watch->thread, NULL, lag_watch_thread, watch) != 0) {
		err_errno(err, "lag watch");
		closep(&watch->wake);
		free(watch);
		return -1;
	}
	*ret_watch = watch;
	return 0;
}

void lag_watch_stop(struct lag_watch *watch)
{
	if (!watch)
		return;
	atomic_store(&watch->stopping, true);
	eventfd_write(watch->wake, 1);
	pthread_join(watch->thread, NULL);
	closep(&watch->wake);
	free(watch->progress);
	free(watch);
}
