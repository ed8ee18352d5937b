/* SPDX-License-Identifier: MPL-2.0 */
#include "common/metrics.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"

enum { MAX_SERIES = 1000, MAX_METRICS = 64, LABELS_SIZE = 256, BUCKETS = 256 };

static const double bounds[] = {
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};

struct series {
	char *labels;
	struct series *beside; /* the next one in its bucket */
	double value;          /* a histogram's sum */
	uint64_t count;
	uint64_t buckets[ARRAY_LEN(bounds)];
	struct series *next;
};

static const struct metric *metrics;
static size_t metrics_count;
static atomic_int_fast64_t read_ms;

/* A metric's series: in the order of their creation, and by their labels. */
static struct family {
	pthread_mutex_t lock;
	struct series *first, *last;
	size_t count;
	struct series *buckets[BUCKETS];
} families[MAX_METRICS] = {[0 ... MAX_METRICS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

void metrics_setup(const struct metric *table, size_t count)
{
	metrics = table;
	metrics_count = count < MAX_METRICS ? count : MAX_METRICS;
	atomic_store(&read_ms, clock_mono_ms());
}

/* FNV-1a: labels are short. */
static size_t bucket_of(const char *labels)
{
	uint32_t hash = 2166136261u;

	for (; *labels; labels++)
		hash = (hash ^ (unsigned char)*labels) * 16777619u;
	return hash % BUCKETS;
}

/* Under the lock. NULL if the metric has too many series: labels without bounds must not exhaust the memory. */
static struct series *series_find(struct family *family, const char *labels, size_t bucket)
{
	struct series *series = family->buckets[bucket];

	while (series && strcmp(series->labels, labels) != 0)
		series = series->beside;
	if (series || family->count == MAX_SERIES)
		return series;
	series = mem_new(1, sizeof(*series));
	series->labels = mem_text(labels);
	series->beside = family->buckets[bucket];
	family->buckets[bucket] = series;
	if (family->last)
		family->last->next = series;
	else
		family->first = series;
	family->last = series;
	family->count++;
	return series;
}

static void series_change(int metric, const char *labels, double value, void (*change)(struct series *, double))
{
	struct family *family = &families[metric];
	size_t bucket = bucket_of(labels);
	struct series *series;

	pthread_mutex_lock(&family->lock);
	series = series_find(family, labels, bucket);
	if (series)
		change(series, value);
	pthread_mutex_unlock(&family->lock);
}

static void change_add(struct series *series, double amount)
{
	series->value += amount;
}

static void change_set(struct series *series, double value)
{
	series->value = value;
}

static void change_observe(struct series *series, double seconds)
{
	series->value += seconds;
	series->count++;
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		if (seconds <= bounds[i]) {
			series->buckets[i]++;
			break;
		}
}

void metric_add(int metric, const char *labels, double amount)
{
	series_change(metric, labels, amount, change_add);
}

void metric_set(int metric, const char *labels, double value)
{
	series_change(metric, labels, value, change_set);
}

void metric_observe(int metric, const char *labels, double seconds)
{
	series_change(metric, labels, seconds, change_observe);
}

void metric_addf(int metric, double amount, const char *labels, ...)
{
	char text[LABELS_SIZE];
	va_list args;

	va_start(args, labels);
	vsnprintf(text, sizeof(text), labels, args);
	va_end(args);
	metric_add(metric, text, amount);
}

void metric_setf(int metric, double value, const char *labels, ...)
{
	char text[LABELS_SIZE];
	va_list args;

	va_start(args, labels);
	vsnprintf(text, sizeof(text), labels, args);
	va_end(args);
	metric_set(metric, text, value);
}

void metric_observef(int metric, double seconds, const char *labels, ...)
{
	char text[LABELS_SIZE];
	va_list args;

	va_start(args, labels);
	vsnprintf(text, sizeof(text), labels, args);
	va_end(args);
	metric_observe(metric, text, seconds);
}

static void series_write(struct buf *out, const struct metric *metric, const struct series *series)
{
	const char *braces[2] = {*series->labels ? "{" : "", *series->labels ? "}" : ""};
	const char *comma = *series->labels ? "," : "";
	uint64_t below = 0;

	if (metric->type != METRIC_HISTOGRAM) {
		buf_printf(out, "%s%s%s%s %.17g\n", metric->name, braces[0], series->labels, braces[1], series->value);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		below += series->buckets[i];
		buf_printf(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", metric->name, series->labels, comma, bounds[i],
			(unsigned long long)below);
	}
	buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", metric->name, series->labels, comma,
		(unsigned long long)series->count);
	buf_printf(out, "%s_sum%s%s%s %.17g\n", metric->name, braces[0], series->labels, braces[1], series->value);
	buf_printf(out, "%s_count%s%s%s %llu\n", metric->name, braces[0], series->labels, braces[1],
		(unsigned long long)series->count);
}

void metrics_write(struct buf *out)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};

	atomic_store(&read_ms, clock_mono_ms());
	for (size_t i = 0; i < metrics_count; i++) {
		buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help, metrics[i].name,
			types[metrics[i].type]);
		pthread_mutex_lock(&families[i].lock);
		for (const struct series *series = families[i].first; series; series = series->next)
			series_write(out, &metrics[i], series);
		pthread_mutex_unlock(&families[i].lock);
	}
}

int64_t metrics_read_ms(void)
{
	return atomic_load(&read_ms);
}
