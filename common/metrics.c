/* SPDX-License-Identifier: MPL-2.0 */
#include "common/metrics.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/build_info.h"
#include "common/clock.h"

enum { LABELS_SIZE = 256, MIN_BUCKETS = 16, WRITTEN_AT_ONCE = 256 };

static const double bounds[] = {
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};

struct series {
	char *labels;
	uint64_t hash;
	struct series *beside; /* the next one in its bucket */
	struct series *next;
	double value;   /* a histogram's sum */
	int64_t set_ms; /* of a sample */
	uint64_t count;
	uint64_t buckets[]; /* of a histogram: one for each bound */
};

static const struct metric *metrics;
static size_t metrics_count;
static atomic_int_fast64_t read_ms;

/* A metric's series: in the order of their creation, and in a hash table by their labels. */
static struct family {
	pthread_mutex_t lock;
	struct series *first, **end; /* end: the link that the next series goes to */
	size_t count;
	struct series **buckets;
	size_t bucket_count; /* a power of two */
} families[METRICS_MAX] = {[0 ... METRICS_MAX - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Only the holder removes series. So a walk may release a family's lock between two series. */
static pthread_mutex_t walk_lock = PTHREAD_MUTEX_INITIALIZER;

void metrics_setup(const struct metric *table, size_t count)
{
	metrics = table;
	metrics_count = count;
	for (size_t i = 0; i < count; i++)
		families[i].end = &families[i].first;
	atomic_store(&read_ms, clock_mono_ms());
	metric_add(M_METRICS_DROPPED, "", 0);
	metric_setf(M_BUILD_INFO, 1, "version=\"%s\",revision=\"%s\"", build_version, build_revision);
}

static struct series **bucket_of(const struct family *family, uint64_t hash)
{
	return &family->buckets[hash & (family->bucket_count - 1)];
}

/* Doubles the table when there are as many series as buckets. */
static void buckets_grow(struct family *family)
{
	if (family->count < family->bucket_count)
		return;
	free(family->buckets);
	family->bucket_count = family->bucket_count ? 2 * family->bucket_count : MIN_BUCKETS;
	family->buckets = mem_new(family->bucket_count, sizeof(struct series *));
	for (struct series *series = family->first; series; series = series->next) {
		struct series **bucket = bucket_of(family, series->hash);

		series->beside = *bucket;
		*bucket = series;
	}
}

static struct series *series_add(struct family *family, const char *labels, uint64_t hash, size_t bounds_count)
{
	struct series *series = mem_new(1, sizeof(*series) + bounds_count * sizeof(uint64_t)), **bucket;

	buckets_grow(family);
	bucket = bucket_of(family, hash);
	series->labels = mem_text(labels);
	series->hash = hash;
	series->beside = *bucket;
	*bucket = series;
	*family->end = series;
	family->end = &series->next;
	family->count++;
	return series;
}

/* Under the lock. NULL if the metric has too many series: labels without bounds must not exhaust the memory. */
static struct series *series_find(int metric, const char *labels)
{
	struct family *family = &families[metric];
	bool is_histogram = metrics[metric].type == METRIC_HISTOGRAM;
	uint64_t hash = text_hash(TEXT_HASH, labels);
	struct series *series = family->buckets ? *bucket_of(family, hash) : NULL;

	while (series && (series->hash != hash || strcmp(series->labels, labels) != 0))
		series = series->beside;
	if (series || family->count == (is_histogram ? METRICS_MAX_HISTOGRAMS : METRICS_MAX_SERIES))
		return series;
	return series_add(family, labels, hash, is_histogram ? ARRAY_LEN(bounds) : 0);
}

/* Under both locks. `link` points to the series. */
static void series_remove(struct family *family, struct series **link)
{
	struct series *series = *link, **bucket = bucket_of(family, series->hash);

	while (*bucket != series)
		bucket = &(*bucket)->beside;
	*bucket = series->beside;
	*link = series->next;
	if (family->end == &series->next)
		family->end = link;
	family->count--;
	free(series->labels);
	free(series);
}

static void series_change(int metric, const char *labels, double value, void (*change)(struct series *, double))
{
	struct family *family = &families[metric];
	struct series *series;

	if ((size_t)metric >= metrics_count)
		return;
	pthread_mutex_lock(&family->lock);
	series = series_find(metric, labels);
	if (series)
		change(series, value);
	pthread_mutex_unlock(&family->lock);
	if (!series)
		metric_add(M_METRICS_DROPPED, "", 1);
}

static void change_add(struct series *series, double amount)
{
	series->value += amount;
}

static void change_set(struct series *series, double value)
{
	series->value = value;
	series->set_ms = clock_mono_ms();
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

static void series_changef(
	int metric, const char *labels, va_list args, double value, void (*change)(struct series *, double))
{
	char text[LABELS_SIZE];

	vsnprintf(text, sizeof(text), labels, args);
	series_change(metric, text, value, change);
}

void metric_addf(int metric, double amount, const char *labels, ...)
{
	va_list args;

	va_start(args, labels);
	series_changef(metric, labels, args, amount, change_add);
	va_end(args);
}

void metric_setf(int metric, double value, const char *labels, ...)
{
	va_list args;

	va_start(args, labels);
	series_changef(metric, labels, args, value, change_set);
	va_end(args);
}

void metric_observef(int metric, double seconds, const char *labels, ...)
{
	va_list args;

	va_start(args, labels);
	series_changef(metric, labels, args, seconds, change_observe);
	va_end(args);
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

/* ---- walks ---- */

/* Called under both locks. Returns false if the series has to be removed. */
typedef bool (*visit_fn)(void *data, const struct metric *metric, const struct series *series);

/* Releases the family's lock now and then, so that a change of a series does not wait for the whole walk. */
static void family_walk(size_t i, visit_fn visit, void *data)
{
	struct family *family = &families[i];
	struct series **link = &family->first;
	size_t visited = 0;

	pthread_mutex_lock(&family->lock);
	while (*link) {
		if (visit(data, &metrics[i], *link))
			link = &(*link)->next;
		else
			series_remove(family, link);
		if (++visited % WRITTEN_AT_ONCE)
			continue;
		pthread_mutex_unlock(&family->lock);
		pthread_mutex_lock(&family->lock);
	}
	pthread_mutex_unlock(&family->lock);
}

struct removal {
	bool (*is_gone)(void *data, const char *labels);
	void *data;
};

static bool visit_remove(void *data, const struct metric *metric, const struct series *series)
{
	const struct removal *removal = data;

	(void)metric;
	return !removal->is_gone(removal->data, series->labels);
}

void metric_remove(int metric, bool (*is_gone)(void *data, const char *labels), void *data)
{
	struct removal removal = {is_gone, data};

	if ((size_t)metric >= metrics_count)
		return;
	pthread_mutex_lock(&walk_lock);
	family_walk((size_t)metric, visit_remove, &removal);
	pthread_mutex_unlock(&walk_lock);
}

struct page {
	struct buf *out;
	int64_t now;
	size_t left_out; /* series that did not fit into the buffer */
};

static bool visit_write(void *data, const struct metric *metric, const struct series *series)
{
	struct page *page = data;
	size_t before = page->out->len;

	if (metric->type == METRIC_SAMPLE && page->now - series->set_ms > METRICS_SAMPLE_MS)
		return false;
	series_write(page->out, metric, series);
	page->left_out += page->out->len == before;
	return true;
}

void metrics_write(struct buf *out)
{
	static const char *const types[] = {[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_SAMPLE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram"};
	struct page page = {out, clock_mono_ms(), 0};

	atomic_store(&read_ms, page.now);
	pthread_mutex_lock(&walk_lock);
	for (size_t i = 0; i < metrics_count; i++) {
		buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help, metrics[i].name,
			types[metrics[i].type]);
		family_walk(i, visit_write, &page);
	}
	pthread_mutex_unlock(&walk_lock);
	if (page.left_out)
		metric_add(M_METRICS_DROPPED, "", (double)page.left_out);
}

int64_t metrics_read_ms(void)
{
	return atomic_load(&read_ms);
}
